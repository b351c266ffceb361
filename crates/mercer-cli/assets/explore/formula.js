import { get, set } from "./state.js";
import { ask, isRecorded } from "./api.js";
import { byId, debounced, el, errorText, typesetInto } from "./dom.js";
import { presets } from "./presets.js";
import { Slider, parametersOf, withParameter } from "./sliders.js";
import { counterExample, proofTree } from "./proof.js";

// The formula box: presets, sliders for the numbers of the formula, the verdict and its proof or counter-example.

let parameterSliders = [];
let parameterShape = "";
let showMoreProof = false;

/** Fills the box and listens to it. */
export function startFormula() {
  const preset = byId("preset");
  preset.append(el("option", { value: "" }, "choose a formula …"));
  for (const [group, entries] of presets) {
    preset.append(el("optgroup", { label: group }, ...entries.map(([name, text]) => el("option", { value: text }, name))));
  }
  preset.addEventListener("change", () => { if (preset.value) set({ kernel: preset.value, assume: "" }); });
  const box = byId("formula");
  box.addEventListener("input", () => set({ kernel: box.value.replaceAll("\n", " ") || " " }));
  byId("dim").addEventListener("change", () => set({ dim: byId("dim").value }));
  byId("domain").addEventListener("change", () => set({ domain: byId("domain").value }));
  showFormula();
}

/** Shows the formula of the state and its sliders. */
export function showFormula() {
  const text = get("kernel");
  const box = byId("formula");
  if (document.activeElement !== box) box.value = text;
  const known = [...byId("preset").options].some((option) => option.value === text);
  byId("preset").value = known ? text : "";
  for (const key of ["dim", "domain"]) {
    const select = byId(key);
    if (![...select.options].some((option) => option.value === get(key))) select.append(el("option", {}, get(key)));
    select.value = get(key);
  }
  showParameters(text);
}

function showParameters(text) {
  const parameters = parametersOf(text);
  const shape = parameters.map((own) => own.key).join(" ");
  if (shape === parameterShape) {
    parameters.forEach((own, i) => { if (document.activeElement !== parameterSliders[i].input) parameterSliders[i].set(own.value); });
    return;
  }
  parameterShape = shape;
  parameterSliders = parameters.map((own, place) => new Slider({
    id: `parameter-${place}`, label: own.label, name: `${own.key} of the kernel`, low: own.low, high: own.high, scale: own.scale, value: own.value,
    onInput: (value) => {
      // The text may have changed since: the parameter is found again by its index.
      const current = parametersOf(get("kernel"));
      if (current[place]) set({ kernel: withParameter(get("kernel"), current[place], value) });
    },
  }));
  byId("parameters").replaceChildren(...parameterSliders.map((slider) => slider.element));
  if (isRecorded()) parameterSliders.forEach((slider) => { slider.input.disabled = true; });
}

/** Requests the verdict once the formula has not changed for a moment. */
export const checkSoon = debounced(() => {
  byId("verdict").classList.add("waiting");
  ask("check", showVerdict, (error) => showFailure(errorText(error)));
}, 60);

function showFailure(text) {
  byId("verdict").className = "verdict undecided";
  byId("verdict").replaceChildren(el("strong", {}, "No verdict"), text);
  byId("evidence").replaceChildren();
}

const HEADINGS = {
  proven: ["It is a kernel", "Proven positive semidefinite"],
  refuted: ["It is not a kernel", "Refuted"],
  undefined: ["It is not defined everywhere", "Undefined somewhere"],
  undecided: ["Undecided", "Neither a proof nor a counter-example was found"],
};

function showVerdict(answer) {
  const error = byId("formula-error");
  const box = byId("formula");
  if (answer.parse_error) {
    const { message, column } = answer.parse_error;
    error.hidden = false;
    // The caret stands under the character.
    const from = Math.max(0, column - 1 - 30);
    const excerpt = answer.kernel.slice(from, column - 1 + 20);
    error.replaceChildren(`Character ${column}: ${message}`, el("pre", { "aria-hidden": "true" }, `${excerpt}\n${" ".repeat(column - 1 - from)}^`));
    box.setAttribute("aria-invalid", "true");
    byId("verdict").className = "verdict";
    byId("verdict").replaceChildren("The formula cannot be read yet.");
    byId("evidence").replaceChildren();
    byId("typeset").replaceChildren();
    return;
  }
  error.hidden = true;
  box.removeAttribute("aria-invalid");
  typesetInto(byId("typeset"), `k(x,z)=${answer.tex}`, true);
  const verdict = answer.verdict;
  const [heading, sentence] = HEADINGS[verdict] ?? [verdict, ""];
  const where = `${answer.dim === "any" ? "in every dimension" : `in dimension ${answer.dim}`}, ${answer.domain === "all" ? "on all of ℝᵈ" : `on ${answer.domain}`}`;
  const host = byId("verdict");
  host.className = `verdict ${verdict}`;
  host.dataset.verdict = verdict;
  host.dataset.kernel = answer.kernel;
  host.replaceChildren(el("strong", {}, heading), verdict === "proven" ? `${sentence} ${where}.` : `${sentence}. Asked: is it one ${where}?`);
  showEvidence(answer);
}

function showEvidence(answer) {
  const parts = [];
  if (answer.proof) parts.push(el("h3", {}, "Proof"), el("ul", { class: "tree" }, el("li", {}, proofTree(answer.proof))));
  if (answer.refutation) parts.push(el("h3", {}, "Counter-example"), counterExample(answer.refutation));
  const lines = answer.text.split("\n");
  // The findings of `mercer check` beyond the verdict and its proof.
  const more = lines.filter((line) => /^(strictly positive definite|characteristic|universal|conditionally|valid|repair|add |a kernel)/i.test(line));
  if (more.length > 0) parts.push(el("ul", { class: "qualities" }, ...more.map((line) => el("li", {}, line))));
  const whole = el("details", { open: showMoreProof }, el("summary", {}, "As mercer check prints it"), el("pre", { class: "lines", tabindex: "0" }, answer.text));
  whole.addEventListener("toggle", () => { showMoreProof = whole.open; });
  parts.push(whole);
  for (const repair of answer.repairs ?? []) {
    if (repair.kernel && repair.kernel !== answer.kernel && !isRecorded()) {
      parts.push(el("div", { class: "buttons" }, el("button", { type: "button", class: "quiet", on: { click: () => set({ kernel: repair.kernel }) } }, `Repair: ${repair.text}`)));
    }
  }
  byId("evidence").replaceChildren(...parts);
}
