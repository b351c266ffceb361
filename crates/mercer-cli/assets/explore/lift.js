import { el, errorText } from "./dom.js";
import { blend, classColour, css, inks, sequential } from "./colour.js";
import { extent } from "./canvas.js";
import { ask } from "./api.js";

// Pictures in space, turned by dragging or by the arrow keys.

/** A projection of the unit cube onto a canvas. */
class Space {
  constructor(canvas, draw) {
    Object.assign(this, { canvas, draw, turn: -0.6, tilt: 0.45 });
    let from = null;
    canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY, this.turn, this.tilt]; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.turn = from[2] + (event.clientX - from[0]) / 120;
      this.tilt = Math.min(Math.max(from[3] + (event.clientY - from[1]) / 160, -0.2), 1.4);
      this.draw();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { from = null; });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08] };
      if (!moves[event.key]) return;
      this.turn += moves[event.key][0];
      this.tilt = Math.min(Math.max(this.tilt + moves[event.key][1], -0.2), 1.4);
      this.draw();
      event.preventDefault();
    });
  }

  begin() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    Object.assign(this, { width, height, size: Math.min(width, height * 1.15) * 0.62 });
  }

  /** A point of the cube from −½ to ½ as pixels and depth. */
  project([x, y, z]) {
    const [c, s] = [Math.cos(this.turn), Math.sin(this.turn)];
    const [u, v] = [c * x - s * y, s * x + c * y];
    const [a, b] = [Math.cos(this.tilt), Math.sin(this.tilt)];
    return [this.width / 2 + u * this.size, this.height / 2 - (z * a + v * b) * this.size, v * a - z * b];
  }

  polygon(corners, fill, edge) {
    const { context } = this;
    context.beginPath();
    corners.forEach((corner) => context.lineTo(corner[0], corner[1]));
    context.closePath();
    if (fill) { context.fillStyle = fill; context.fill(); }
    if (edge) { context.strokeStyle = edge; context.lineWidth = 1; context.stroke(); }
  }

  floor(ink) {
    const corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(([x, y]) => this.project([x, y, -0.5]));
    this.polygon(corners, null, ink.line);
    const [bottom, top] = [this.project([-0.5, -0.5, -0.5]), this.project([-0.5, -0.5, 0.5])];
    this.polygon([bottom, top], null, ink.soft);
  }

  label(text, at, ink) {
    const [x, y] = this.project(at);
    this.context.fillStyle = ink.soft;
    this.context.font = "12px system-ui, sans-serif";
    this.context.textAlign = "center";
    this.context.fillText(text, x, y);
  }
}

let surfaceSpace = null;
let surfaceSource = null;

/** A regression over two columns as a surface, with the points above and below it. */
export function drawSurface(canvas, source, points, count, rowOf, targetOf) {
  surfaceSource = { source, points, count, rowOf, targetOf };
  surfaceSpace ??= new Space(canvas, () => paintSurface());
  paintSurface();
}

function paintSurface() {
  const { source, points, count, rowOf, targetOf } = surfaceSource;
  const space = surfaceSpace;
  const ink = inks();
  const { x: xs, y: ys } = source.grid;
  space.begin();
  const targets = Array.from({ length: count }, (_, row) => targetOf(row));
  const [low, high] = extent([...source.values, ...targets]);
  const unit = (v, [a, b]) => (v - a) / (b - a) - 0.5;
  const [xr, yr] = [[xs[0], xs[xs.length - 1]], [ys[0], ys[ys.length - 1]]];
  const at = (column, row) => [unit(xs[column], xr), unit(ys[row], yr), 0.7 * unit(source.values[row * xs.length + column], [low, high])];
  space.floor(ink);
  const every = Math.max(1, Math.floor(xs.length / 32));
  const faces = [];
  for (let row = 0; row + every < ys.length; row += every) {
    for (let column = 0; column + every < xs.length; column += every) {
      const corners = [[column, row], [column + every, row], [column + every, row + every], [column, row + every]].map(([c, r]) => space.project(at(c, r)));
      const value = source.values[row * xs.length + column];
      faces.push({ depth: corners.reduce((sum, corner) => sum + corner[2], 0) / 4, draw: () => space.polygon(corners, css(blend(ink.field, sequential((value - low) / (high - low || 1)), 0.9)), css(ink.field, 0.35)) });
    }
  }
  for (let row = 0; row < count; row += 1) {
    const [x, y] = rowOf(row);
    const spot = space.project([unit(x, xr), unit(y, yr), 0.7 * unit(targets[row], [low, high])]);
    faces.push({ depth: spot[2] - 0.02, draw: () => { space.context.beginPath(); space.context.arc(spot[0], spot[1], 3, 0, 7); space.context.fillStyle = css(classColour(1)); space.context.fill(); space.context.strokeStyle = ink.card; space.context.stroke(); } });
  }
  faces.sort((a, b) => b.depth - a.depth).forEach((face) => face.draw());
  space.label(points.names[0], [0, -0.62, -0.5], ink);
  space.label(points.names[1], [0.62, 0, -0.5], ink);
  space.label(points.target, [-0.58, -0.58, 0.4], ink);
}

/** The lift of two columns: x₁² + x₂² as the third coordinate, and the plane between the classes. */
export function liftFigure(current) {
  const canvas = el("canvas", { class: "square", tabindex: "0", role: "img", "aria-label": "The points with x₁² + x₂² as a third coordinate" });
  canvas.style.width = "100%";
  const caption = el("figcaption", {});
  const element = el("figure", {}, el("h3", {}, "The lift x₁² + x₂²"), canvas, caption);
  let plane = null;
  const draw = () => { if (canvas.clientWidth > 0 && plane) paintLift(space, plane, current()); };
  const space = new Space(canvas, draw);
  new ResizeObserver(draw).observe(canvas);
  document.addEventListener("themechange", draw);
  return {
    element,
    refresh() {
      ask("lift", (answer) => {
        plane = answer;
        canvas.hidden = false;
        caption.textContent = `A plane in the lifted space is a circle on the page: ${answer.right} of ${answer.rows} points are on their side. Drag to turn.`;
        draw();
      }, (error) => { plane = null; canvas.hidden = true; caption.textContent = errorText(error); });
    },
  };
}

function paintLift(space, plane, { rows, codes }) {
  const ink = inks();
  space.begin();
  const heights = rows.map(([x, y]) => x * x + y * y);
  const [xr, yr, zr] = [extent(rows.map((r) => r[0])), extent(rows.map((r) => r[1])), extent(heights)];
  const unit = (v, [a, b]) => (v - a) / (b - a || 1) - 0.5;
  space.floor(ink);
  const [w1, w2, w3] = plane.weights;
  const height = (x, y) => -(w1 * x + w2 * y + plane.intercept) / w3;
  const parts = rows.map(([x, y], i) => {
    const [spot, foot] = [space.project([unit(x, xr), unit(y, yr), unit(heights[i], zr)]), space.project([unit(x, xr), unit(y, yr), -0.5])];
    return { depth: spot[2], draw: () => {
      space.polygon([foot, spot], null, css(classColour(codes[i]), 0.18));
      space.context.beginPath();
      space.context.arc(spot[0], spot[1], 4, 0, 7);
      space.context.fillStyle = css(classColour(codes[i]));
      space.context.fill();
    } };
  });
  if (Math.abs(w3) > 1e-9) {
    const cells = 14;
    const at = (i, [a, b]) => a + ((b - a) * i) / cells;
    for (let i = 0; i < cells; i += 1) {
      for (let j = 0; j < cells; j += 1) {
        const places = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(([c, r]) => [at(c, xr), at(r, yr)]);
        const corners = places.map(([x, y]) => [unit(x, xr), unit(y, yr), unit(height(x, y), zr)]);
        if (corners.some((corner) => corner[2] < -0.55 || corner[2] > 0.6)) continue;
        const seen = corners.map((corner) => space.project(corner));
        parts.push({ depth: seen.reduce((sum, corner) => sum + corner[2], 0) / 4, draw: () => space.polygon(seen, css([120, 130, 160], 0.28), css([120, 130, 160], 0.45)) });
      }
    }
  }
  parts.sort((a, b) => b.depth - a.depth).forEach((part) => part.draw());
  space.label("x₁² + x₂²", [-0.4, -0.4, 0.6], ink);
}
