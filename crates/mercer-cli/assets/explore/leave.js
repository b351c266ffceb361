import { linkText } from "./state.js";
import { fetchFile, isRecorded } from "./api.js";
import { announce, el, errorText, saveFile } from "./dom.js";
import { lastFit, methodName } from "./model.js";

// Exports: the lines that reproduce the picture, files, a link.

/** Lines to copy, with a button. */
function copyable(title) {
  const lines = el("pre", { class: "lines", tabindex: "0", "aria-label": title });
  const button = el("button", { type: "button", class: "quiet", on: { click: async () => {
    try {
      await navigator.clipboard.writeText(lines.textContent);
      announce(`${title} copied`);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(lines);
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } } }, "Copy");
  return { lines, element: el("div", {}, el("h3", {}, title), lines, button) };
}

const FILES = [["points.csv", "Points as CSV"], ["model.mercer", "Model"], ["picture.svg", "Picture as SVG"], ["picture.html", "Page as one HTML file"]];

export function leavePanel() {
  const shell = copyable("Command line");
  const python = copyable("Python");
  const link = copyable("State, for mercer explore --state");
  const failure = el("p", { class: "error", role: "alert" });
  const buttons = FILES.map(([name, label]) => el("button", { type: "button", class: "quiet", "data-file": name, disabled: isRecorded(), on: { click: async () => {
    failure.textContent = "";
    try {
      saveFile(await fetchFile(name, { method: methodName() }), name);
      announce(`${name} saved`);
    } catch (error) {
      failure.textContent = errorText(error);
    }
  } } }, label));
  return {
    element: el("div", {}, el("h3", {}, "Files"), el("div", { class: "buttons" }, ...buttons), failure, el("p", { class: "hint" }, "The lines below read points.csv; both give the model of the picture."), el("div", { class: "figures" }, shell.element, python.element, link.element)),
    refresh() {
      const fitted = lastFit();
      shell.lines.textContent = fitted?.lines.shell ?? "There is no model.";
      python.lines.textContent = fitted?.lines.python ?? "There is no model.";
      link.lines.textContent = linkText() || "(everything at its default)";
    },
  };
}
