import { ask } from "./api.js";
import { byId, el, errorText } from "./dom.js";
import { frame } from "./data.js";
import { methodName, showFrame } from "./model.js";
import { LineChart } from "./chart.js";

// Training step by step: epochs of least mean squares, mistakes of the perceptron.

let frames = [];
let filmTimer = 0;
let filmShape = "";
let filmChart = null;

/** Shows the controls if the method has steps. */
export function showFilm() {
  const method = methodName();
  const steps = { lms: "Epochs, step by step", perceptron: "Mistakes, one by one" }[method];
  stopFilm();
  frames = [];
  byId("film").hidden = !steps;
  if (!steps || filmShape === method) { filmShape = steps ? method : ""; if (steps) resetFilm(); return; }
  filmShape = method;
  const range = el("input", { type: "range", id: "film-step", min: 0, max: 0, value: 0, "aria-label": steps, disabled: true });
  range.addEventListener("input", () => { stopFilm(); showStep(Number(range.value)); });
  const chart = el("div", { id: "film-chart" });
  chart.style.width = "100%";
  byId("film").replaceChildren(el("button", { type: "button", id: "film-play", on: { click: playFilm } }, "Play"), el("span", {}, steps), range, chart);
  filmChart = new LineChart(chart, { series: [{ label: method === "lms" ? "training error" : "mistakes", stroke: "accent", width: 2 }], logX: method === "lms", xLabel: method === "lms" ? "epoch" : "frame", yLabel: "", height: 150 });
}

function resetFilm() {
  byId("film-step").value = "0";
  byId("film-step").disabled = true;
  byId("film-play").textContent = "Play";
}

function stopFilm() {
  clearInterval(filmTimer);
  filmTimer = 0;
  if (byId("film-play")) byId("film-play").textContent = "Play";
}

function playFilm() {
  if (filmTimer) { stopFilm(); return; }
  if (frames.length > 0) { run(); return; }
  const more = { method: methodName() };
  if (frame()) more.frame = frame();
  ask("steps", (answer) => {
    frames = answer.frames.map((own) => ({ ...own, grid: answer.grid, method: methodName() }));
    const range = byId("film-step");
    range.max = String(Math.max(frames.length - 1, 0));
    range.disabled = frames.length === 0;
    const places = frames.map((own, i) => Number(own.label.match(/epoch (\d+)/)?.[1] ?? i + 1));
    filmChart.update([places, frames.map((own) => own.error)]);
    if (frames.length > 0) run();
  }, (error) => { byId("picture-text").textContent = errorText(error); }, { more });
}

function run() {
  let step = Number(byId("film-step").value);
  if (step >= frames.length - 1) step = 0;
  byId("film-play").textContent = "Pause";
  showStep(step);
  filmTimer = setInterval(() => {
    step += 1;
    if (step >= frames.length) { stopFilm(); return; }
    showStep(step);
  }, 130);
}

function showStep(step) {
  const range = byId("film-step");
  range.value = String(step);
  range.setAttribute("aria-valuetext", frames[step]?.label ?? "");
  if (frames[step]) showFrame(frames[step]);
}
