import { get, has, set } from "./state.js";
import { ask, isRecorded } from "./api.js";
import { announce, byId, el, errorText, fewDigits } from "./dom.js";
import { Plot, extent, redrawOnResize, roundTicks, softened, withRoom } from "./canvas.js";
import { blend, classColour, css, inks, sequential } from "./colour.js";
import { Slider } from "./sliders.js";
import { addPoint, classNames, dimensions, frame, movePoint, points, removePoint, rowAt, rowCount, targetAt } from "./data.js";
import { drawSurface } from "./lift.js";

// The model: its picture, its settings, and the points on it.

export const METHODS = {
  ridge: ["Ridge regression", ["numbers"], ["lambda"]], lms: ["Least mean squares", ["numbers"], ["epochs"]], svr: ["Support vector regression", ["numbers"], ["C", "epsilon"]], gp: ["Gaussian process", ["numbers"], ["gpnoise"]],
  smoother: ["Kernel smoother", ["numbers", "classes"], []], knn: ["k nearest neighbours", ["numbers", "classes"], ["k"]],
  svc: ["Support vector classification", ["classes"], ["C"]], logistic: ["Logistic regression", ["classes"], ["lambda"]], perceptron: ["Perceptron", ["classes"], ["epochs"]],
  "one-class": ["One-class support vectors", ["classes", "numbers"], ["nu"]],
};

const SETTINGS = {
  lambda: ["λ", "penalty λ", 1e-6, 1e3, "log"], C: ["C", "cost C", 1e-2, 1e4, "log"], epsilon: ["ε", "half the width ε of the tube", 0, 1, "linear"],
  gpnoise: ["noise", "variance of the noise, as a part of the variance of the target", 1e-4, 1, "log"],
  nu: ["ν", "fraction ν of outliers", 0.01, 0.9, "linear"], k: ["neighbours k", "number of neighbours k", 1, 50, "whole"], epochs: ["epochs", "epochs", 1, 5000, "log"],
};

let plot = null;
let fitted = null;
let shownFrame = null;
let settingsShape = "";
let askedAt = 0;
let cursor = null;
let dragged = null;
let settingSliders = {};

/** The method of the state, or the default for the points. */
export function methodName() {
  const kind = classNames() ? "classes" : "numbers";
  const asked = get("method");
  if (has("method") && METHODS[asked]?.[1].includes(kind) && !(dimensions() === 1 && asked === "one-class")) return asked;
  return kind === "classes" ? "svc" : "ridge";
}

/** The last fit, as the server described it. */
export function lastFit() {
  return fitted;
}

export function startModel() {
  plot = new Plot(byId("picture"));
  redrawOnResize(byId("picture"), drawModel);
  byId("method").addEventListener("change", () => set({ method: byId("method").value, view: "" }));
  startEditing();
}

/** Shows the methods for the points and the sliders of the chosen one. */
export function showSettings() {
  const kind = classNames() ? "classes" : "numbers";
  const allowed = Object.entries(METHODS).filter(([name, own]) => own[1].includes(kind) && !(dimensions() === 1 && name === "one-class"));
  const method = methodName();
  const select = byId("method");
  select.replaceChildren(...allowed.map(([name, own]) => el("option", { value: name }, own[0])));
  select.value = method;
  const curve = kind === "numbers" && dimensions() === 1;
  const surface = kind === "numbers" && dimensions() === 2 && method !== "one-class";
  const shape = `${method} ${curve} ${surface} ${isRecorded()}`;
  if (shape === settingsShape) {
    for (const [key, slider] of Object.entries(settingSliders)) if (document.activeElement !== slider.input) slider.set(get(key));
    return;
  }
  settingsShape = shape;
  settingSliders = {};
  const parts = METHODS[method][2].map((key) => {
    const [label, name, low, high, scale] = SETTINGS[key];
    const slider = new Slider({ id: `setting-${key}`, label, name, low, high, scale, value: get(key), onInput: (value) => set({ [key]: key === "epochs" ? Math.round(value) : value }) });
    slider.input.disabled = isRecorded();
    settingSliders[key] = slider;
    return slider.element;
  });
  const tick = (text, on, change) => el("label", { class: "check" }, el("input", { type: "checkbox", checked: on, on: { change } }), text);
  if (curve && ["ridge", "lms", "svr"].includes(method)) parts.push(tick("Show the bumps aᵢ k(xᵢ, ·)", get("bumps") === "yes", (event) => set({ bumps: event.target.checked ? "yes" : "no" })));
  if (surface) parts.push(tick("Show as a surface", get("view") === "surface", (event) => set({ view: event.target.checked ? "surface" : "map" })));
  byId("settings").replaceChildren(...parts);
}

/** Asks for a fit and draws it. */
export function fitNow() {
  shownFrame = null;
  if (askedAt === 0) askedAt = performance.now();
  const more = { method: methodName() };
  if (frame()) more.frame = frame();
  ask("fit", (answer) => {
    fitted = answer;
    byId("refused").hidden = true;
    drawModel();
    // From the first change that this picture includes to the pixels.
    const since = askedAt;
    askedAt = 0;
    document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
    document.dispatchEvent(new CustomEvent("modeldrawn", { detail: { milliseconds: performance.now() - since } }));
  }, (error) => {
    askedAt = 0;
    fitted = null;
    drawModel();
    const host = byId("refused");
    const assumable = /--assume-psd/.test(error.hint ?? "");
    host.replaceChildren(assumable ? error.message : errorText(error));
    if (assumable && !isRecorded()) host.append(el("div", { class: "buttons" }, el("button", { type: "button", on: { click: () => set({ assume: "yes" }) } }, "Fit all the same")));
    host.hidden = false;
    document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
  }, { more });
}

/** Shows one frame of a film in place of the fit. */
export function showFrame(own) {
  shownFrame = own;
  drawModel();
}

/** Draws the model and the points. */
export function drawModel() {
  if (!plot || !points || byId("picture").clientWidth === 0) return;
  const source = shownFrame ?? fitted;
  if (dimensions() === 1) drawCurve(source);
  else if (source?.values && get("view") === "surface") drawRegressionSurface(source);
  else drawMap(source);
  if (cursor && document.activeElement === byId("picture")) drawCursor();
  describe();
}

function drawCurve(source) {
  const xs = source?.grid.x ?? fallbackGrid(0);
  const targets = Array.isArray(points.values) ? points.values : points.values.codes;
  const ys = targets.length > 0 ? withRoom(extent(targets), 0.12) : (frame() || "-3,3,-3,3").split(",").slice(2).map(Number);
  plot.begin({ x: [xs[0], xs[xs.length - 1]], y: ys });
  plot.axes([points.names[0], points.target], { grid: true });
  const ink = inks();
  plot.clipped(() => {
    if (source?.epsilon > 0) {
      plot.band(xs, source.values.map((v) => v - source.epsilon), source.values.map((v) => v + source.epsilon), css(classColour(0), 0.14));
    }
    if (source?.deviations) {
      plot.band(xs, source.values.map((v, i) => v - 2 * source.deviations[i]), source.values.map((v, i) => v + 2 * source.deviations[i]), css(classColour(1), 0.16));
      for (const drawn of source.draws) plot.line(xs, drawn, ink.bump, 1.2);
    }
    if (source?.bumps && get("bumps") === "yes") for (const bump of source.bumps) plot.line(xs, bump.map((v) => v + source.intercept), ink.bump, 1);
    if (source?.values) plot.line(xs, source.values, css(classColour(1)), 3);
    if (source?.decision) {
      const { kind, values } = source.decision;
      values.forEach((own, code) => plot.line(xs, own, css(classColour(codeOf(kind === "decision" ? 1 : code))), 2.5));
    }
    for (let row = 0; row < rowCount(); row += 1) {
      const support = source?.support?.[row];
      plot.dot(rowAt(row)[0], targets[row], { colour: css(classColour(classNames() ? targets[row] : 0), 0.85), edge: support ? ink.ink : null, radius: rowCount() > 300 ? 3 : 4.5, width: 2 });
    }
  });
}

function fallbackGrid(axis) {
  const ends = (frame() || "-3,3,-3,3").split(",").map(Number);
  return [ends[2 * axis], ends[2 * axis + 1]];
}

/** The margin of the second of two classes: one number for each place. */
function twoSided(decision) {
  if (decision.kind === "decision") return decision.values[0];
  if (decision.values.length === 2) return decision.values[1].map((v, i) => v - decision.values[0][i]);
  return null;
}

/** The index of a class of the model among the classes of the points, of which there may be more. */
function codeOf(place) {
  const name = fitted?.classes[place];
  const code = classNames()?.indexOf(name) ?? -1;
  return code >= 0 ? code : place;
}

/** Draws the map of a decision or of numbers on any plot. */
export function paintMap(target, source, ink = inks()) {
  const { x: xs, y: ys } = source.grid;
  if (source.values) {
    const [low, high] = extent(source.values);
    const t = (v) => (high > low ? (v - low) / (high - low) : 0.5);
    target.field(xs.length, ys.length, (place) => blend(ink.field, sequential(t(source.values[place])), 0.9));
    target.clipped(() => {
      for (const level of roundTicks(low, high, 9)) target.contour(xs, ys, source.values, level, "rgba(255,255,255,.7)", 1);
    });
    return [low, high];
  }
  const { decision } = source;
  const signed = twoSided(decision);
  if (signed) {
    const scale = decision.kind === "decision" ? 1 : Math.max(1e-9, ...signed.map(Math.abs));
    target.field(xs.length, ys.length, (place) => {
      const f = signed[place] / scale;
      return softened(classColour(codeOf(f > 0 ? 1 : 0)), ink.field, Math.abs(f));
    });
    target.clipped(() => {
      target.contour(xs, ys, signed, 0, ink.ink, 2.2);
      if (["svc", "nu-svc"].includes(source.method)) for (const side of [-1, 1]) target.contour(xs, ys, signed, side, ink.ink, 1.1, [5, 4]);
    });
    return null;
  }
  const count = decision.values.length;
  const winner = (place) => {
    let best = 0;
    for (let code = 1; code < count; code += 1) if (decision.values[code][place] > decision.values[best][place]) best = code;
    return best;
  };
  const sure = (place, code) => (decision.kind === "shares" ? (decision.values[code][place] * count - 1) / (count - 1) : 0.6);
  target.field(xs.length, ys.length, (place) => { const code = winner(place); return softened(classColour(codeOf(code)), ink.field, sure(place, code)); });
  target.clipped(() => {
    for (let code = 0; code < count; code += 1) {
      const ahead = decision.values[code].map((v, place) => v - Math.max(...decision.values.filter((_, other) => other !== code).map((own) => own[place])));
      target.contour(xs, ys, ahead, 0, ink.ink, 1.6);
    }
  });
  return null;
}

/** Draws the points on a map. */
export function paintPoints(target, support, range, highlighted = -1) {
  const ink = inks();
  const classes = classNames();
  const few = rowCount() <= 300;
  target.clipped(() => {
    for (let row = 0; row < rowCount(); row += 1) {
      const [x, y] = rowAt(row);
      const value = targetAt(row);
      const t = range && range[1] > range[0] ? (value - range[0]) / (range[1] - range[0]) : 0.5;
      const colour = classes ? css(classColour(value)) : css(sequential(t));
      const held = support?.[row];
      target.dot(x, y, { colour, radius: few ? 4.6 : 3.2, shape: classes ? value % 3 : 0, edge: held ? ink.ink : ink.card, width: held ? 2.2 : 1 });
      if (row === highlighted) target.dot(x, y, { colour: null, radius: 11, edge: ink.bad, width: 3 });
    }
  });
}

function drawMap(source) {
  const xs = source?.grid.x ?? fallbackGrid(0);
  const ys = source?.grid.y ?? fallbackGrid(1);
  plot.begin({ x: [xs[0], xs[xs.length - 1]], y: [ys[0], ys[ys.length - 1]] });
  const range = source ? paintMap(plot, source) : null;
  plot.axes(points.names);
  paintPoints(plot, source?.support, range, shownFrame?.row ?? -1);
}

function drawRegressionSurface(source) {
  drawSurface(byId("picture"), source, points, rowCount(), rowAt, targetAt);
}

function describe() {
  const text = byId("picture-text");
  if (shownFrame) { text.textContent = `${shownFrame.label} · ${shownFrame.row === null || shownFrame.row === undefined ? `training error ${fewDigits(shownFrame.error)}` : "the mistaken point is ringed"}`; return; }
  if (!fitted) { text.textContent = ""; return; }
  const held = fitted.support.filter(Boolean).length;
  const parts = [`Training: ${fitted.training}`];
  if (held > 0) parts.push(`${held} of ${fitted.support.length} rows are ${fitted.method === "perceptron" ? "centres" : "support vectors"} (ringed)`);
  if (fitted.bumps.length > 0 && get("bumps") === "yes") parts.push(`${fitted.bumps.length < fitted.terms ? `the largest ${fitted.bumps.length} of ${fitted.terms}` : `all ${fitted.terms}`} bumps`);
  if (fitted.method === "svc") parts.push("dashed: the margins");
  if (fitted.deviations) parts.push("band: two standard deviations; thin: functions drawn from the posterior");
  parts.push(...fitted.warnings);
  text.textContent = parts.join(" · ");
  byId("picture").setAttribute("aria-label", `${METHODS[fitted.method]?.[0] ?? fitted.method} on ${rowCount()} points. ${parts.join(". ")}. Arrow keys move a cross, Enter adds a point, Delete removes one.`);
}

function nearest(px, py, most) {
  let [best, least] = [-1, most * most];
  for (let row = 0; row < rowCount(); row += 1) {
    const [x, y] = dimensions() > 1 ? rowAt(row) : [rowAt(row)[0], targetAt(row)];
    const distance = (plot.px(x) - px) ** 2 + (plot.py(y) - py) ** 2;
    if (distance < least) [best, least] = [row, distance];
  }
  return best;
}

function place(event) {
  const box = byId("picture").getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function isInside([px, py]) {
  const { left, top, width, height } = plot.inner;
  return px >= left && px <= left + width && py >= top && py <= top + height;
}

function startEditing() {
  const canvas = byId("picture");
  const editable = () => points && plot.inner && !isRecorded() && get("view") !== "surface";
  canvas.addEventListener("pointerdown", (event) => {
    const at = place(event);
    if (!editable() || event.button !== 0 || !isInside(at)) return;
    const row = nearest(...at, 12);
    if (row >= 0) {
      dragged = row;
      canvas.setPointerCapture(event.pointerId);
    } else addPoint(...plot.at(...at));
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (dragged !== null && isInside(at)) movePoint(dragged, ...plot.at(...at));
    else if (editable()) canvas.style.cursor = nearest(...at, 12) >= 0 ? "grab" : "crosshair";
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { dragged = null; });
  canvas.addEventListener("contextmenu", (event) => {
    if (!editable()) return;
    const row = nearest(...place(event), 12);
    if (row >= 0) { event.preventDefault(); removePoint(row); }
  });
  canvas.addEventListener("keydown", (event) => {
    if (!editable()) return;
    const step = event.shiftKey ? 40 : 8;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    cursor ??= [plot.inner.left + plot.inner.width / 2, plot.inner.top + plot.inner.height / 2];
    if (moves[event.key]) {
      const { left, top, width, height } = plot.inner;
      cursor = [Math.min(Math.max(cursor[0] + moves[event.key][0], left), left + width), Math.min(Math.max(cursor[1] + moves[event.key][1], top), top + height)];
      const [x, y] = plot.at(...cursor);
      announce(`${fewDigits(x)}, ${fewDigits(y)}`);
      drawModel();
    } else if (event.key === "Enter") addPoint(...plot.at(...cursor));
    else if (event.key === "Delete" || event.key === "Backspace") {
      const row = nearest(...cursor, 1e4);
      if (row >= 0) removePoint(row);
    } else return;
    event.preventDefault();
  });
  canvas.addEventListener("blur", () => drawModel());
}

function drawCursor() {
  const { context } = plot;
  context.strokeStyle = inks().ink;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(cursor[0] - 9, cursor[1]);
  context.lineTo(cursor[0] + 9, cursor[1]);
  context.moveTo(cursor[0], cursor[1] - 9);
  context.lineTo(cursor[0], cursor[1] + 9);
  context.stroke();
}
