import { ask } from "./api.js";
import { el, errorText, fewDigits } from "./dom.js";
import { Plot, extent, withRoom } from "./canvas.js";
import { blend, css, classColour, inks, sequential } from "./colour.js";
import { LineChart } from "./chart.js";
import { get, set } from "./state.js";
import { classNames, dimensions, frame, points, rowAt, rowCount } from "./data.js";
import { methodName, paintPoints } from "./model.js";
import { liftFigure } from "./lift.js";

// The machinery: the kernel matrix, its eigenvalues, the spectral density, induced distances, the lift.

/** A figure with a canvas and a caption. */
export function canvasFigure(title, label, kind = "square") {
  const canvas = el("canvas", { class: kind, role: "img", "aria-label": label });
  canvas.style.width = "100%";
  const caption = el("figcaption", {});
  return { canvas, caption, element: el("figure", {}, el("h3", {}, title), canvas, caption) };
}

/** Calls `draw` when a canvas gets its size and when the theme changes. */
export function keepDrawn(canvas, draw) {
  new ResizeObserver(draw).observe(canvas);
  document.addEventListener("themechange", draw);
}

export function machineryPanel() {
  const matrix = canvasFigure("Gram matrix, rows sorted by the target", "The Gram matrix as a heat map");
  const chartHost = el("div", {});
  const eigenCaption = el("figcaption", {});
  const eigen = el("figure", {}, el("h3", {}, "Eigenvalues"), chartHost, eigenCaption);
  const chart = new LineChart(chartHost, { series: [{ label: "eigenvalue", stroke: "accent", width: 1.5, points: { show: true, size: 5, stroke: "accent" } }, { label: "λ", stroke: "bad", width: 1.5, dash: [6, 4] }], logY: true, xLabel: "number", yLabel: "", height: 290 });
  const densityHost = el("div", {});
  const densityCaption = el("figcaption", {});
  const density = new LineChart(densityHost, { series: [{ label: "density", stroke: "accent", width: 2, fill: "rgba(120,130,220,.15)" }, { label: "frequency drawn", stroke: "bad", width: 0, points: { show: true, size: 5 } }], xLabel: "ω₁", yLabel: "", height: 290 });
  const spectral = el("figure", {}, el("h3", {}, "Spectral density and random frequencies"), densityHost, densityCaption);
  const cloud = canvasFigure("Random frequencies", "Random frequencies as points");
  const distance = canvasFigure("Induced distance from one point", "Map of the distances that the kernel induces");
  const pairs = canvasFigure("Distance and induced distance", "Euclidean distances of pairs of points and the distances that the kernel induces");
  const pivot = el("button", { type: "button", class: "quiet", on: { click: () => set({ pivot: (Number(get("pivot")) + 1) % Math.max(rowCount(), 1) }) } }, "Next point");
  distance.element.append(el("div", { class: "buttons" }, pivot));
  const lift = liftFigure(() => ({ rows: Array.from({ length: rowCount() }, (_, row) => rowAt(row)), codes: points.values.codes ?? [] }));
  let [gram, spectrum, distances] = [null, null, null];

  const drawMatrix = () => {
    if (!gram || matrix.canvas.clientWidth === 0) return;
    const n = gram.order.length;
    const plot = new Plot(matrix.canvas).begin({ x: [0, n], y: [n, 0], margin: { left: 34, right: 46, top: 8, bottom: 24 } });
    const [low, high] = extent(gram.values);
    const ink = inks();
    plot.cells(n, n, (place) => blend(ink.field, sequential((gram.values[place] - low) / (high - low || 1)), 0.95));
    const bar = plot.inner.left + plot.inner.width + 10;
    for (let i = 0; i < plot.inner.height; i += 1) {
      plot.context.fillStyle = css(blend(ink.field, sequential(1 - i / plot.inner.height), 0.95));
      plot.context.fillRect(bar, plot.inner.top + i, 9, 1.5);
    }
    plot.text(fewDigits(high, 2), bar, plot.inner.top - 1, { font: "10px system-ui" });
    plot.text(fewDigits(low, 2), bar, plot.inner.top + plot.inner.height + 8, { font: "10px system-ui" });
    if (classNames()) {
      gram.order.forEach((row, i) => {
        plot.context.fillStyle = css(classColour(points.values.codes[row]));
        plot.context.fillRect(plot.inner.left - 8, plot.py(i), 5, Math.max(1, plot.inner.height / n));
      });
    }
  };
  const drawCloud = () => {
    if (!spectrum || cloud.canvas.clientWidth === 0 || dimensions() < 2) return;
    const most = Math.max(...spectrum.places);
    const plot = new Plot(cloud.canvas).begin({ x: [-most, most], y: [-most, most] });
    plot.axes(["ω₁", "ω₂"], { grid: true });
    plot.clipped(() => spectrum.frequencies[0].forEach((w, i) => {
      plot.dot(w, spectrum.frequencies[1][i], { colour: css(classColour(0), 0.7), radius: 3.5 });
      plot.dot(-w, -spectrum.frequencies[1][i], { colour: css(classColour(0), 0.2), radius: 2.5 });
    }));
  };
  const drawDistance = () => {
    if (!distances || !points || distance.canvas.clientWidth === 0) return;
    const { grid, values } = distances;
    if (!grid.y) {
      const plot = new Plot(distance.canvas).begin({ x: [grid.x[0], grid.x[grid.x.length - 1]], y: [0, withRoom(extent(values))[1]] });
      plot.axes([points.names[0], ""], { grid: true });
      plot.line(grid.x, values, css(classColour(0)), 2.5);
      plot.dot(rowAt(distances.pivot)[0], 0, { colour: inks().bad, radius: 6 });
      return;
    }
    const plot = new Plot(distance.canvas).begin({ x: [grid.x[0], grid.x[grid.x.length - 1]], y: [grid.y[0], grid.y[grid.y.length - 1]] });
    const [low, high] = extent(values);
    plot.field(grid.x.length, grid.y.length, (place) => blend(inks().field, sequential(1 - (values[place] - low) / (high - low || 1)), 0.85));
    plot.clipped(() => { for (let i = 1; i < 8; i += 1) plot.contour(grid.x, grid.y, values, low + ((high - low) * i) / 8, "rgba(255,255,255,.75)", 1); });
    plot.axes(points.names);
    paintPoints(plot, null, extent(Array.isArray(points.values) ? points.values : [0, 1]), distances.pivot);
  };
  const drawPairs = () => {
    if (!gram || pairs.canvas.clientWidth === 0) return;
    const [xs, ys] = [gram.pairs.map((pair) => pair[0]), gram.pairs.map((pair) => pair[1])];
    const plot = new Plot(pairs.canvas).begin({ x: [0, withRoom(extent(xs))[1]], y: [0, withRoom(extent(ys))[1]] });
    plot.axes(["|x − z|", "induced"], { grid: true });
    plot.clipped(() => xs.forEach((x, i) => plot.dot(x, ys[i], { colour: css(classColour(0), 0.35), radius: 2.5 })));
  };
  keepDrawn(matrix.canvas, drawMatrix);
  keepDrawn(cloud.canvas, drawCloud);
  keepDrawn(distance.canvas, drawDistance);
  keepDrawn(pairs.canvas, drawPairs);
  distance.canvas.addEventListener("click", (event) => {
    if (!distances?.grid.y) return;
    const box = distance.canvas.getBoundingClientRect();
    const { grid } = distances;
    const x = grid.x[0] + ((event.clientX - box.left - 46) / (box.width - 60)) * (grid.x[grid.x.length - 1] - grid.x[0]);
    const y = grid.y[grid.y.length - 1] - ((event.clientY - box.top - 12) / (box.height - 46)) * (grid.y[grid.y.length - 1] - grid.y[0]);
    let [best, least] = [0, Infinity];
    for (let row = 0; row < rowCount(); row += 1) {
      const away = (rowAt(row)[0] - x) ** 2 + (rowAt(row)[1] - y) ** 2;
      if (away < least) [best, least] = [row, away];
    }
    set({ pivot: best });
  });

  return {
    element: el("div", { class: "figures" }, matrix.element, eigen, spectral, cloud.element, distance.element, pairs.element, lift.element),
    refresh() {
      const more = { method: methodName() };
      if (frame()) more.frame = frame();
      ask("gram", (answer) => {
        gram = answer;
        const n = answer.order.length;
        matrix.caption.textContent = `${n} of ${answer.all} rows. ${answer.note ?? ""}`;
        const top = answer.eigenvalues[0];
        const floor = Math.max(top, 1e-300) * 1e-17;
        chart.update([answer.eigenvalues.map((_, i) => i + 1), answer.eigenvalues.map((v) => (v > floor ? v : null)), answer.eigenvalues.map(() => (answer.lambda > 0 ? answer.lambda : null))]);
        eigenCaption.textContent = `Effective dimension tr K(K + λI)⁻¹ = ${fewDigits(answer.effective_dimension)} of ${n} at λ = ${fewDigits(answer.lambda)}. Eigenvalues below rounding are left out.`;
        drawMatrix();
        drawPairs();
        pairs.caption.textContent = "The distance √(k(x,x) − 2k(x,z) + k(z,z)) of pairs of rows in the feature space.";
      }, (error) => { gram = null; matrix.caption.textContent = errorText(error); eigenCaption.textContent = ""; }, { more });
      ask("spectrum", (answer) => {
        spectrum = answer;
        densityHost.hidden = false;
        const drawn = answer.frequencies[0].filter((w) => Math.abs(w) <= answer.places[answer.places.length - 1]).sort((a, b) => a - b);
        const all = [...answer.places.map((w, i) => [w, answer.density[i], null]), ...drawn.map((w) => [w, null, 0])].sort((a, b) => a[0] - b[0]);
        density.update([all.map((row) => row[0]), spanned(all.map((row) => row[0]), all.map((row) => row[1])), all.map((row) => row[2])]);
        const outside = answer.frequencies[0].length - drawn.length;
        densityCaption.textContent = `${answer.features} features: ${answer.features / 2} frequencies, each a cosine and a sine${outside > 0 ? `; ${outside} of them are outside of the picture` : ""}${answer.at_zero > 0 ? `; the frequency 0 has the probability ${fewDigits(answer.at_zero)}` : ""}.`;
        cloud.element.hidden = dimensions() < 2;
        cloud.caption.textContent = "Each frequency and, paler, its mirror image. Directions are orthogonal in pairs where the density is isotropic.";
        drawCloud();
      }, (error) => { spectrum = null; densityHost.hidden = true; cloud.element.hidden = true; densityCaption.textContent = errorText(error); }, { more });
      ask("distances", (answer) => {
        distances = answer;
        distance.caption.textContent = "Near is bright. Click on a point of the map to measure from there.";
        drawDistance();
      }, (error) => { distances = null; distance.caption.textContent = errorText(error); }, { more });
      lift.refresh();
    },
  };
}

/** Fills gaps between known values by straight lines, so that one chart holds curves and points. */
function spanned(xs, ys) {
  const known = ys.map((y, i) => (y === null ? -1 : i)).filter((i) => i >= 0);
  let next = 0;
  return ys.map((y, i) => {
    if (y !== null) return y;
    while (next < known.length && known[next] < i) next += 1;
    const [a, b] = [known[next - 1], known[next]];
    if (a === undefined || b === undefined) return null;
    return ys[a] + ((ys[b] - ys[a]) * (xs[i] - xs[a])) / (xs[b] - xs[a] || 1);
  });
}
