import { get, set } from "./state.js";
import { ask, isRecorded } from "./api.js";
import { el, errorText, fewDigits } from "./dom.js";
import { Plot, extent, withRoom } from "./canvas.js";
import { css, classColour, inks } from "./colour.js";
import { Slider } from "./sliders.js";
import { dimensions, frame, points, rowAt, rowCount, targetAt } from "./data.js";
import { methodName, paintMap, paintPoints } from "./model.js";
import { canvasFigure, keepDrawn } from "./machinery.js";

// The exact model next to one on approximate features.

export function comparePanel() {
  const exact = canvasFigure("Exact", "The exact model", "wide");
  const near = canvasFigure("Approximate", "The approximate model", "wide");
  const error = el("p", { class: "caption", "aria-live": "polite" });
  const kind = el("select", { id: "approx", disabled: isRecorded(), on: { change: () => set({ approx: kind.value }) } }, el("option", { value: "fourier" }, "random Fourier features"), el("option", { value: "nystrom" }, "landmarks (Nyström)"));
  const count = new Slider({ id: "features", label: "features", name: "number of features or landmarks", low: 2, high: 1000, scale: "log", value: get("features"), onInput: (value) => set({ features: Math.round(value) }) });
  count.input.disabled = isRecorded();
  let answer = null;
  const draw = () => {
    if (!answer || !points || exact.canvas.clientWidth === 0) return;
    paintSide(exact.canvas, { ...answer.exact, grid: answer.grid, method: methodName() }, null);
    paintSide(near.canvas, { ...answer.approximate, grid: answer.grid, method: methodName() }, answer.exact);
  };
  keepDrawn(exact.canvas, draw);
  return {
    element: el("div", {}, el("div", { class: "columns" }, el("label", { class: "field" }, "Approximation", kind), count.element), error, el("div", { class: "figures" }, exact.element, near.element)),
    refresh() {
      kind.value = get("approx");
      if (document.activeElement !== count.input) count.set(get("features"));
      const more = { method: methodName() };
      if (frame()) more.frame = frame();
      ask("compare", (document_) => {
        answer = document_;
        exact.caption.textContent = `Training: ${answer.exact.training}`;
        near.caption.textContent = `Training: ${answer.approximate.training}`;
        near.element.querySelector("h3").textContent = `--approx ${answer.approx}`;
        const apart = answer.disagreement === null ? "" : `, other classes on ${fewDigits(100 * answer.disagreement)} % of the map`;
        error.textContent = `Relative error of the kernel ${fewDigits(answer.kernel_error)}; root mean square difference of the models ${fewDigits(answer.difference)}${apart}.`;
        draw();
      }, (failure) => { answer = null; error.textContent = errorText(failure); for (const own of [exact, near]) own.canvas.getContext("2d").clearRect(0, 0, own.canvas.width, own.canvas.height); }, { more });
    },
  };
}

function paintSide(canvas, source, other) {
  const { grid } = source;
  if (grid.y) {
    const plot = new Plot(canvas).begin({ x: [grid.x[0], grid.x[grid.x.length - 1]], y: [grid.y[0], grid.y[grid.y.length - 1]] });
    const range = paintMap(plot, source);
    plot.axes(points.names);
    paintPoints(plot, null, range);
    return;
  }
  const targets = Array.from({ length: rowCount() }, (_, row) => targetAt(row));
  const plot = new Plot(canvas).begin({ x: [grid.x[0], grid.x[grid.x.length - 1]], y: withRoom(extent(targets), 0.12) });
  plot.axes([points.names[0], points.target], { grid: true });
  plot.clipped(() => {
    if (dimensions() === 1) targets.forEach((y, row) => plot.dot(rowAt(row)[0], y, { colour: css(classColour(0), 0.6), radius: 3.5 }));
    if (other?.values) plot.line(grid.x, other.values, inks().soft, 1.5, [6, 4]);
    if (source.values) plot.line(grid.x, source.values, css(classColour(1)), 3);
  });
}
