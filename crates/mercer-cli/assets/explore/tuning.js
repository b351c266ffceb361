import { get, set } from "./state.js";
import { ask, isRecorded } from "./api.js";
import { el, errorText, fewDigits } from "./dom.js";
import { Plot, extent } from "./canvas.js";
import { blend, inks, sequential } from "./colour.js";
import { parametersOf, withParameter } from "./sliders.js";
import { frame } from "./data.js";
import { methodName } from "./model.js";
import { canvasFigure, keepDrawn } from "./machinery.js";

// The error over a grid of hyper-parameters; pointing at a cell shows that model.

export function tuningPanel() {
  const map = canvasFigure("Error on rows left out", "Error over two hyper-parameters as a heat map");
  map.canvas.tabIndex = 0;
  map.canvas.setAttribute("role", "application");
  const told = el("p", { class: "caption", "aria-live": "polite" });
  const use = el("button", { type: "button", disabled: true, on: { click: () => choose(answer.best) } }, "Use the best");
  const search = el("button", { type: "button", disabled: isRecorded(), on: { click: () => run() } }, "Search");
  let answer = null;
  let picked = null;

  const geometry = () => new Plot(map.canvas).begin({ x: [0, answer.settings.length], y: [0, answer.values.length], margin: { left: 64, right: 14, top: 10, bottom: 44 } });
  const draw = () => {
    if (!answer || map.canvas.clientWidth === 0) return;
    const plot = geometry();
    const known = answer.scores.flat().filter((score) => score !== null);
    const [low, high] = extent(known);
    // Errors differ by factors: equal colours are equal ratios.
    const t = (score) => (high > low ? Math.log((score + 1e-12) / (low + 1e-12)) / Math.log((high + 1e-12) / (low + 1e-12)) : 0);
    const [columns, rows] = [answer.settings.length, answer.values.length];
    plot.cells(columns, rows, (place) => {
      const score = answer.scores[rows - 1 - Math.floor(place / columns)][place % columns];
      return score === null ? [128, 128, 128] : blend(inks().field, sequential(1 - t(score)), 0.95);
    });
    const ink = inks();
    const every = Math.max(1, Math.ceil(columns / 7));
    answer.settings.forEach((value, i) => { if (i % every === 0) plot.text(fewDigits(value, 2), plot.px(i + 0.5), plot.inner.top + plot.inner.height + 12, { align: "center", colour: ink.soft, font: "11px system-ui" }); });
    answer.values.forEach((value, i) => { if (rows > 1 && i % 2 === 0) plot.text(fewDigits(value, 2), plot.inner.left - 6, plot.py(i + 0.5), { align: "right", colour: ink.soft, font: "11px system-ui" }); });
    plot.text(answer.setting, plot.inner.left + plot.inner.width, plot.height - 8, { align: "right" });
    plot.text(answer.parameter, 4, plot.inner.top + 6);
    for (const [cell, colour] of [[answer.best, ink.ink], [picked, ink.bad]]) {
      if (!cell) continue;
      const [row, column] = cell;
      plot.context.strokeStyle = colour;
      plot.context.lineWidth = 2.5;
      plot.context.strokeRect(plot.px(column) + 1, plot.py(row + 1) + 1, plot.inner.width / columns - 2, plot.inner.height / rows - 2);
    }
  };
  keepDrawn(map.canvas, draw);

  const tell = ([row, column]) => {
    const score = answer.scores[row][column];
    const first = answer.parameter ? `${answer.parameter} = ${fewDigits(answer.values[row])}, ` : "";
    return `${first}${answer.setting ? `${answer.setting} = ${fewDigits(answer.settings[column])}, ` : ""}${answer.measure} ${score === null ? "none" : fewDigits(score, 4)}`;
  };
  const choose = (cell) => {
    if (!answer || !cell) return;
    picked = cell;
    const [row, column] = cell;
    told.textContent = `${tell(cell)}; the best: ${tell(answer.best)}`;
    const parameter = parametersOf(get("kernel")).find((own) => own.key === answer.parameter);
    const changes = {};
    if (parameter && answer.values.length > 1) changes.kernel = withParameter(get("kernel"), parameter, answer.values[row]);
    if (answer.setting) changes[answer.setting] = Number(answer.settings[column].toPrecision(4));
    draw();
    if (!isRecorded()) set(changes);
  };
  const cellAt = (event) => {
    const plot = geometry();
    const box = map.canvas.getBoundingClientRect();
    const [x, y] = plot.at(event.clientX - box.left, event.clientY - box.top);
    draw();
    const [column, row] = [Math.floor(x), Math.floor(y)];
    return row >= 0 && row < answer.values.length && column >= 0 && column < answer.settings.length ? [row, column] : null;
  };
  map.canvas.addEventListener("pointermove", (event) => {
    if (!answer) return;
    const cell = cellAt(event);
    if (cell && String(cell) !== String(picked)) choose(cell);
  });
  map.canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] };
    if (!answer || !moves[event.key]) return;
    const from = picked ?? answer.best;
    const next = [from[0] + moves[event.key][0], from[1] + moves[event.key][1]];
    if (next[0] >= 0 && next[0] < answer.values.length && next[1] >= 0 && next[1] < answer.settings.length) choose(next);
    event.preventDefault();
  });

  const run = () => {
    told.textContent = "Searching …";
    const more = { method: methodName() };
    if (frame()) more.frame = frame();
    ask("tune", (document_) => {
      answer = document_;
      picked = null;
      use.disabled = isRecorded();
      told.textContent = `The best: ${tell(answer.best)}. Point at a cell to see its model.`;
      draw();
    }, (failure) => { answer = null; use.disabled = true; told.textContent = errorText(failure); }, { more });
  };
  map.caption.textContent = "Bright is better. Pointing at a cell, or moving by the arrow keys, shows that model.";
  let searched = "";
  return {
    element: el("div", {}, el("div", { class: "buttons" }, search, use), told, el("div", { class: "narrow" }, map.element)),
    refresh() {
      // A new search only if something other than the searched numbers has changed.
      const shape = [methodName(), get("kernel").replace(/[0-9.e+-]+/g, "#"), get("data"), get("points"), get("n"), get("noise"), get("seed"), get("x"), get("z")].join("\n");
      if (shape !== searched) { searched = shape; run(); }
    },
  };
}
