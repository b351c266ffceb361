import { get, has, set } from "./state.js";
import { ask, isRecorded } from "./api.js";
import { announce, byId, el, errorText, fewDigits } from "./dom.js";
import { extent, withRoom } from "./canvas.js";
import { classColour, css } from "./colour.js";
import { Slider } from "./sliders.js";

// The points: the data set, the number of rows, and the user's own points.

/** The points that are shown, as sent by the server. */
export let points = null;

let fileInfo = null;
let dataSets = [];
let brush = 0;
let brushValue = 0;
let frameText = "";
let samplingShape = "";
let rawTable = null;

/** Constants from the server: the built-in sets and the file. */
export function startData(start) {
  fileInfo = start.file;
  dataSets = start.sets;
  const select = byId("data");
  if (fileInfo) select.append(el("option", { value: "file" }, fileInfo.name));
  for (const [name, about] of dataSets) select.append(el("option", { value: name }, `${name}: ${about}`));
  select.append(el("option", { value: "points" }, "points of my own"));
  select.addEventListener("change", () => {
    const before = points;
    if (select.value === "points" && before) set({ ...ownPoints(before) });
    else set({ data: select.value === defaultData() ? "" : select.value, points: "", dims: "", kind: "", labels: "", names: "", x: "", z: "", noise: "", method: "", pivot: "" });
  });
}

/** The data set that is shown if the state names none. */
export function defaultData() {
  return fileInfo ? "file" : "moons";
}

export function dataName() {
  return has("data") ? get("data") : defaultData();
}

/** The points' classes; none for numbers. */
export function classNames() {
  return points && !Array.isArray(points.values) ? points.values.names : null;
}

export function dimensions() {
  return points ? points.names.length : 2;
}

export function rowCount() {
  return points ? points.rows.length / points.names.length : 0;
}

/** The coordinates of a row. */
export function rowAt(row) {
  const dims = dimensions();
  return points.rows.slice(row * dims, (row + 1) * dims);
}

export function targetAt(row) {
  return Array.isArray(points.values) ? points.values[row] : points.values.codes[row];
}

/** Requests the points of the state, then calls `done`. */
export function loadPoints(done, failed) {
  ask("data", (answer) => {
    points = answer;
    const dims = dimensions();
    const column = (c) => points.rows.filter((_, i) => i % dims === c);
    const range = (c) => withRoom(extent(column(c)), 0.08);
    const second = dims > 1 ? range(1) : withRoom(extent(Array.isArray(points.values) ? points.values : [0, 1]), 0.08);
    if (rowCount() > 0 && dataName() !== "points") frameText = [...range(0), ...second].map((v) => v.toPrecision(6)).join(",");
    if (dataName() === "points" && frameText === "") frameText = rowCount() > 1 ? [...range(0), ...second].map((v) => v.toPrecision(6)).join(",") : "-3,3,-3,3";
    byId("data").value = dataName();
    showSampling();
    done();
  }, (error) => failed(errorText(error)));
}

/** The limits of the picture, which are fixed while points are moved. */
export function frame() {
  return isRecorded() ? "" : frameText;
}

/** Resets the limits of the picture. */
export function resetFrame() {
  frameText = "";
}

function showSampling() {
  const name = dataName();
  const host = byId("sampling");
  const shape = `${name} ${isRecorded()}`;
  if (shape === samplingShape) return;
  samplingShape = shape;
  const builtIn = dataSets.find(([known]) => known === name);
  if (!builtIn) { host.replaceChildren(el("p", { class: "hint" }, `${rowCount()} rows`)); return; }
  const sliders = [
    new Slider({ id: "rows", label: "rows n", low: 10, high: 1000, scale: "log", value: get("n"), onInput: (value) => set({ n: Math.round(value) }) }),
    new Slider({ id: "noise", label: "noise", low: 0, high: 1, scale: "linear", value: has("noise") ? get("noise") : builtIn[2], onInput: (value) => set({ noise: value }) }),
    new Slider({ id: "draw", label: "draw", name: "number of the random draw", low: 0, high: 20, scale: "whole", value: get("seed"), onInput: (value) => set({ seed: value }) }),
  ];
  host.replaceChildren(...sliders.map((slider) => slider.element));
  if (isRecorded()) sliders.forEach((slider) => { slider.input.disabled = true; });
}

/** A state with the current points. */
function ownPoints(from) {
  const dims = from.names.length;
  const classes = !Array.isArray(from.values);
  const rows = [];
  for (let row = 0; row < from.rows.length / dims; row += 1) {
    const target = classes ? from.values.codes[row] : from.values[row];
    rows.push([...from.rows.slice(row * dims, (row + 1) * dims), target].map((v) => Number(v.toPrecision(5))).join(","));
  }
  const names = [...from.names, from.target];
  return {
    data: "points", points: rows.join(";"), dims, kind: classes ? "classes" : "numbers",
    labels: classes ? from.values.names.join(",") : "", names: names.some((n) => n.includes(",")) ? "" : names.join(","), n: "", noise: "", seed: "", x: "", z: "",
  };
}

function changed() {
  set(ownPoints(points));
}

/** Adds a point of the chosen class or value. */
export function addPoint(x, y) {
  if (!points) return;
  const classes = classNames();
  if (dimensions() === 1 && classes) return;
  if (dimensions() === 1) {
    points.rows.push(x);
    points.values.push(y);
  } else {
    points.rows.push(x, y);
    if (classes) points.values.codes.push(Math.min(brush, classes.length - 1));
    else points.values.push(brushValue);
  }
  announce(`Point added at ${fewDigits(x)}, ${fewDigits(y)}; ${rowCount()} points`);
  changed();
}

/** Moves a point. */
export function movePoint(row, x, y) {
  const dims = dimensions();
  points.rows[row * dims] = x;
  if (dims > 1) points.rows[row * dims + 1] = y;
  else if (Array.isArray(points.values)) points.values[row] = y;
  changed();
}

/** Removes a point. */
export function removePoint(row) {
  const dims = dimensions();
  points.rows.splice(row * dims, dims);
  (Array.isArray(points.values) ? points.values : points.values.codes).splice(row, 1);
  announce(`Point removed; ${rowCount()} points`);
  changed();
}

/** The tab with the user's own points. */
export function dataPanel() {
  const host = el("div", { class: "figures" });
  const brushes = el("div", {});
  const file = el("input", { id: "csv", type: "file", accept: ".csv,.tsv,.txt,text/csv" });
  const chooser = el("div", {});
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (chosen) readTable(await chosen.text(), chooser);
  });
  const draw = el("div", {},
    el("h3", {}, "Draw"),
    el("p", { class: "hint" }, "Click on the picture to add a point, drag to move one, right-click or Delete to remove one. With the keyboard: focus the picture, move the cross by the arrow keys, Enter adds, Delete removes the nearest point."),
    brushes,
    el("div", { class: "buttons" },
      el("button", { type: "button", on: { click: () => { resetFrame(); set({ data: "points", points: "", dims: 2, kind: "classes", labels: "", names: "", method: "" }); } } }, "Empty, two classes"),
      el("button", { type: "button", class: "quiet", on: { click: () => { resetFrame(); set({ data: "points", points: "", dims: 1, kind: "numbers", labels: "", names: "", method: "" }); } } }, "Empty, one column")));
  const load = el("div", {}, el("h3", {}, "Load a table"), el("label", { class: "field", for: "csv" }, "CSV file; it stays on this machine"), file, chooser);
  const columns = el("div", {});
  host.append(draw, load, columns);
  return {
    element: host,
    refresh() {
      showBrushes(brushes);
      showColumns(columns);
    },
  };
}

function showBrushes(host) {
  const classes = classNames();
  if (!classes) {
    const needed = dimensions() === 2;
    host.replaceChildren(...(needed ? [new Slider({ id: "brush-value", label: "value", name: "value of a new point", low: -3, high: 3, scale: "linear", value: brushValue, onInput: (value) => { brushValue = value; } }).element] : []));
    return;
  }
  host.replaceChildren(el("fieldset", {}, el("legend", {}, "Class of a new point"), el("div", { class: "swatches" }, ...classes.map((name, code) => {
    const input = el("input", { type: "radio", name: "brush", checked: code === brush, on: { change: () => { brush = code; } } });
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = css(classColour(code));
    return el("label", { class: "check" }, input, swatch, name);
  }))));
}

/** The columns of the file that was given on the command line. */
function showColumns(host) {
  if (!fileInfo || dataName() !== "file") { host.replaceChildren(); return; }
  const choose = (key, value, none) => {
    const select = el("select", { on: { change: () => { resetFrame(); set({ [key]: select.value, pivot: "" }); } } },
      ...(none ? [el("option", { value: "-" }, "none")] : []), ...fileInfo.columns.map((name) => el("option", { value: name }, name)));
    select.value = value;
    return select;
  };
  host.replaceChildren(el("h3", {}, fileInfo.name), el("p", { class: "hint" }, `${fileInfo.rows} rows, target ${fileInfo.target}. Columns are standardised.`), el("div", { class: "row" },
    el("label", { class: "field" }, "First column", choose("x", points.names[0], false)),
    el("label", { class: "field" }, "Second column", choose("z", points.names[1] ?? "-", true))),
    ...points.notes.map((note) => el("p", { class: "hint" }, note)));
}

/** Splits a line of a table at its delimiter; fields may be quoted. */
export function splitFields(line, delimiter) {
  const fields = [];
  let [field, quoted] = ["", false];
  for (let i = 0; i < line.length; i += 1) {
    const character = line[i];
    if (quoted && character === '"' && line[i + 1] === '"') { field += '"'; i += 1; }
    else if (character === '"') quoted = !quoted;
    else if (character === delimiter && !quoted) { fields.push(field.trim()); field = ""; }
    else field += character;
  }
  fields.push(field.trim());
  return fields;
}

function readTable(text, host) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const delimiter = [",", ";", "\t"].reduce((best, next) => ((lines[0] ?? "").split(next).length > (lines[0] ?? "").split(best).length ? next : best), ",");
  const rows = lines.map((line) => splitFields(line, delimiter));
  const isNumber = (field) => field !== "" && Number.isFinite(Number(field));
  const header = rows[0]?.some((field) => !isNumber(field)) ? rows.shift() : rows[0]?.map((_, i) => `x${i}`);
  if (!header || header.length < 2 || rows.length < 2) {
    host.replaceChildren(el("p", { class: "error", role: "alert" }, "The file is no table of two or more columns and rows."));
    return;
  }
  rawTable = { header: header.map((name, i) => name.replaceAll(",", " ") || `x${i}`), rows: rows.filter((row) => row.length === header.length) };
  const numeric = rawTable.header.map((_, c) => rawTable.rows.every((row) => isNumber(row[c])));
  const numbers = rawTable.header.map((_, c) => c).filter((c) => numeric[c]);
  const pick = (places, chosen, none) => {
    const select = el("select", {}, ...(none ? [el("option", { value: "-1" }, "none")] : []), ...places.map((c) => el("option", { value: c }, rawTable.header[c])));
    select.value = String(chosen);
    return select;
  };
  const last = rawTable.header.length - 1;
  const inputs = numbers.filter((c) => c !== last);
  const [first, second, target] = [pick(numbers, inputs[0] ?? numbers[0]), pick(numbers, inputs[1] ?? -1, true), pick(rawTable.header.map((_, c) => c), last)];
  const use = el("button", { type: "button", on: { click: () => usePicked(Number(first.value), Number(second.value), Number(target.value), numeric, host) } }, "Use these columns");
  host.replaceChildren(el("div", { class: "row" }, el("label", { class: "field" }, "First column", first), el("label", { class: "field" }, "Second column", second), el("label", { class: "field" }, "Target", target)), el("div", { class: "buttons" }, use),
    el("p", { class: "hint" }, `${rawTable.rows.length} rows${rawTable.rows.length > 2000 ? "; every few of them are taken, 2000 at most" : ""}.`));
}

function usePicked(first, second, target, numeric, host) {
  const chosen = second >= 0 ? [first, second] : [first];
  const stride = Math.max(1, Math.ceil(rawTable.rows.length / 2000));
  const rows = rawTable.rows.filter((_, i) => i % stride === 0);
  const labels = [...new Set(rows.map((row) => row[target]))].sort();
  const classes = !numeric[target] || (labels.length <= 5 && second >= 0);
  if (classes && labels.length > 10) {
    host.append(el("p", { class: "error", role: "alert" }, `The target has ${labels.length} classes; at most 10 are shown.`));
    return;
  }
  // Columns of a table have different units.
  const column = (c) => rows.map((row) => Number(row[c]));
  resetFrame();
  const text = rows.map((row) => [...chosen.map((c) => Number(Number(row[c]).toPrecision(6))), classes ? labels.indexOf(row[target]) : Number(row[target])].join(",")).join(";");
  const spread = Math.max(...chosen.map((c) => { const [low, high] = extent(column(c)); return high - low; }));
  set({
    data: "points", points: text, dims: chosen.length, kind: classes ? "classes" : "numbers", labels: classes ? labels.map((l) => l.replaceAll(",", " ")).join(",") : "",
    names: [...chosen, target].map((c) => rawTable.header[c]).join(","), scale: spread > 20 || spread < 0.2 ? "standard" : "", method: "", pivot: "",
  });
}
