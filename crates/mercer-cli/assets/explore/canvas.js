import { inks } from "./colour.js";
import { fewDigits } from "./dom.js";

// Drawing on a canvas: axes, curves, points, fields of colour and their contours.

/** Ticks at round numbers. */
export function roundTicks(low, high, about) {
  const raw = (high - low) / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) ticks.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
  return ticks;
}

/** A plot on a canvas: data to pixels, and the marks. */
export class Plot {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  /** Clears the canvas and sets the range of its axes. */
  begin({ x, y, margin = { left: 46, right: 14, top: 12, bottom: 34 } }) {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    Object.assign(this, { x, y, margin, width, height, ink: inks() });
    this.inner = { left: margin.left, top: margin.top, width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
    return this;
  }

  px(x) { return this.inner.left + ((x - this.x[0]) / (this.x[1] - this.x[0])) * this.inner.width; }

  py(y) { return this.inner.top + (1 - (y - this.y[0]) / (this.y[1] - this.y[0])) * this.inner.height; }

  /** The data at a place of the canvas. */
  at(px, py) {
    return [this.x[0] + ((px - this.inner.left) / this.inner.width) * (this.x[1] - this.x[0]), this.y[0] + (1 - (py - this.inner.top) / this.inner.height) * (this.y[1] - this.y[0])];
  }

  /** Runs `draw` clipped to the axes. */
  clipped(draw) {
    const { context, inner } = this;
    context.save();
    context.beginPath();
    context.rect(inner.left, inner.top, inner.width, inner.height);
    context.clip();
    draw();
    context.restore();
  }

  axes(labels = ["", ""], { grid = false, both = true } = {}) {
    const { context, inner, ink } = this;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = ink.soft;
    context.strokeStyle = ink.line;
    context.lineWidth = 1;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of roundTicks(this.x[0], this.x[1], inner.width / 64)) {
      const at = Math.round(this.px(tick)) + 0.5;
      context.beginPath();
      context.moveTo(at, grid ? inner.top : inner.top + inner.height);
      context.lineTo(at, inner.top + inner.height + 4);
      context.stroke();
      context.fillText(fewDigits(tick), at, inner.top + inner.height + 6);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of both ? roundTicks(this.y[0], this.y[1], inner.height / 50) : []) {
      const at = Math.round(this.py(tick)) + 0.5;
      context.beginPath();
      context.moveTo(inner.left - 4, at);
      context.lineTo(grid ? inner.left + inner.width : inner.left, at);
      context.stroke();
      context.fillText(fewDigits(tick), inner.left - 7, at);
    }
    if (both) context.strokeRect(inner.left + 0.5, inner.top + 0.5, inner.width - 1, inner.height - 1);
    context.fillStyle = ink.ink;
    context.textAlign = "right";
    context.textBaseline = "bottom";
    context.fillText(labels[0], inner.left + inner.width, this.height - 2);
    context.save();
    context.translate(11, inner.top);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(labels[1], 0, 0);
    context.restore();
  }

  line(xs, ys, colour, width = 2, dash = []) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.beginPath();
    let pen = false;
    for (let i = 0; i < xs.length; i += 1) {
      if (ys[i] === null || !Number.isFinite(ys[i])) { pen = false; continue; }
      // Far outside the axes a curve is clipped anyway, and some browsers draw huge coordinates wrongly.
      const at = Math.max(-1e4, Math.min(1e4, this.py(ys[i])));
      if (pen) context.lineTo(this.px(xs[i]), at);
      else context.moveTo(this.px(xs[i]), at);
      pen = true;
    }
    context.stroke();
    context.setLineDash([]);
  }

  band(xs, low, high, colour) {
    const { context } = this;
    context.fillStyle = colour;
    context.beginPath();
    xs.forEach((x, i) => context.lineTo(this.px(x), this.py(high[i])));
    for (let i = xs.length - 1; i >= 0; i -= 1) context.lineTo(this.px(xs[i]), this.py(low[i]));
    context.closePath();
    context.fill();
  }

  dot(x, y, { colour, radius = 4.5, edge = null, shape = 0, width = 1.4 }) {
    const { context } = this;
    const [px, py] = [this.px(x), this.py(y)];
    context.beginPath();
    if (shape === 1) context.rect(px - radius * 0.9, py - radius * 0.9, radius * 1.8, radius * 1.8);
    else if (shape === 2) {
      context.moveTo(px, py - radius * 1.25);
      context.lineTo(px + radius * 1.15, py + radius * 0.85);
      context.lineTo(px - radius * 1.15, py + radius * 0.85);
      context.closePath();
    } else context.arc(px, py, radius, 0, 2 * Math.PI);
    if (colour) { context.fillStyle = colour; context.fill(); }
    if (edge) { context.strokeStyle = edge; context.lineWidth = width; context.stroke(); }
  }

  /** A field of colour over the whole plot: `colourAt(place)` for each place of the grid, row after row from the bottom. */
  field(columns, rows, colourAt) {
    const image = new ImageData(columns, rows);
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const [r, g, b] = colourAt(row * columns + column);
        const at = 4 * ((rows - 1 - row) * columns + column);
        image.data.set([r, g, b, 255], at);
      }
    }
    const small = document.createElement("canvas");
    small.width = columns;
    small.height = rows;
    small.getContext("2d").putImageData(image, 0, 0);
    const { context, inner } = this;
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "high";
    // Places are at the centres of the small picture's pixels, the first and the last at the ends of the axes.
    const [sx, sy] = [inner.width / (columns - 1), inner.height / (rows - 1)];
    this.clipped(() => context.drawImage(small, inner.left - sx / 2, inner.top - sy / 2, sx * columns, sy * rows));
  }

  /** Squares of colour without smoothing: the entries of a matrix, from the top. */
  cells(columns, rows, colourAt) {
    const image = new ImageData(columns, rows);
    for (let place = 0; place < columns * rows; place += 1) {
      const [r, g, b] = colourAt(place);
      image.data.set([r, g, b, 255], 4 * place);
    }
    const small = document.createElement("canvas");
    small.width = columns;
    small.height = rows;
    small.getContext("2d").putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(small, this.inner.left, this.inner.top, this.inner.width, this.inner.height);
    this.context.imageSmoothingEnabled = true;
  }

  /** The lines where a field has a value: marching squares, with straight pieces. */
  contour(xs, ys, values, level, colour, width = 2, dash = []) {
    const { context } = this;
    const columns = xs.length;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    for (let row = 0; row + 1 < ys.length; row += 1) {
      for (let column = 0; column + 1 < columns; column += 1) {
        const at = row * columns + column;
        const corners = [values[at], values[at + 1], values[at + columns + 1], values[at + columns]];
        const places = [[xs[column], ys[row]], [xs[column + 1], ys[row]], [xs[column + 1], ys[row + 1]], [xs[column], ys[row + 1]]];
        const cuts = [];
        for (let edge = 0; edge < 4; edge += 1) {
          const [a, b] = [corners[edge], corners[(edge + 1) % 4]];
          if (a > level === b > level) continue;
          const t = (level - a) / (b - a);
          const [p, q] = [places[edge], places[(edge + 1) % 4]];
          cuts.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
        }
        for (let cut = 0; cut + 1 < cuts.length; cut += 2) {
          context.moveTo(this.px(cuts[cut][0]), this.py(cuts[cut][1]));
          context.lineTo(this.px(cuts[cut + 1][0]), this.py(cuts[cut + 1][1]));
        }
      }
    }
    context.stroke();
    context.setLineDash([]);
  }

  text(text, px, py, { colour = this.ink.ink, align = "left", font = "12px system-ui, sans-serif" } = {}) {
    this.context.font = font;
    this.context.fillStyle = colour;
    this.context.textAlign = align;
    this.context.textBaseline = "middle";
    this.context.fillText(text, px, py);
  }
}

/** The least and the largest of many numbers. */
export function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** A range with some room around it. */
export function withRoom([low, high], room = 0.08) {
  const more = high > low ? room * (high - low) : Math.max(Math.abs(low), 1) * 0.5;
  return [low - more, high + more];
}

/** Calls `draw` whenever the size of an element or the theme changes. */
export function redrawOnResize(element, draw) {
  new ResizeObserver(() => draw()).observe(element);
  document.addEventListener("themechange", () => draw());
}

/** A colour of a class on a field, by the confidence of the decision. */
export function softened(colour, field, sure) {
  const t = 0.1 + 0.45 * Math.min(Math.max(sure, 0), 1);
  return field.map((v, i) => v + (colour[i] - v) * t);
}
