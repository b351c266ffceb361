import { el, fewDigits } from "./dom.js";

// Sliders on linear and logarithmic scales.

const STEPS = 400;

/** A slider: `scale` is "log", "linear" or "whole". */
export class Slider {
  constructor({ id, label, low, high, scale = "log", value, onInput, name = label }) {
    Object.assign(this, { low, high, scale, onInput });
    this.input = el("input", { id, type: "range", min: 0, max: scale === "whole" ? high - low : STEPS, step: 1, "aria-label": name });
    this.output = el("output", { for: id });
    this.element = el("div", { class: "slider" }, el("label", { for: id, title: name }, label), this.input, this.output);
    this.input.addEventListener("input", () => {
      const chosen = this.valueOf(Number(this.input.value));
      this.show(chosen);
      this.onInput(chosen);
    });
    this.set(value);
  }

  valueOf(place) {
    if (this.scale === "whole") return this.low + place;
    const t = place / STEPS;
    const raw = this.scale === "log" ? this.low * (this.high / this.low) ** t : this.low + (this.high - this.low) * t;
    return Number(raw.toPrecision(3));
  }

  /** Moves the slider without calling `onInput`. A text such as `auto` has no position: the slider moves to the middle. */
  set(value) {
    const chosen = Number(value);
    if (!Number.isFinite(chosen) || value === "") {
      this.input.value = String(Math.round(Number(this.input.max) / 2));
      this.output.textContent = String(value);
      this.input.setAttribute("aria-valuetext", String(value));
      return;
    }
    const t = this.scale === "log" ? Math.log(chosen / this.low) / Math.log(this.high / this.low) : (chosen - this.low) / (this.high - this.low);
    const place = this.scale === "whole" ? chosen - this.low : t * STEPS;
    this.input.value = String(Math.min(Math.max(Math.round(place), 0), Number(this.input.max)));
    this.show(chosen);
  }

  show(value) {
    const text = this.scale === "whole" ? String(value) : fewDigits(value);
    this.output.textContent = text;
    this.input.setAttribute("aria-valuetext", text);
  }
}

/** The names of hyper-parameters with their sliders. */
const RANGES = {
  sigma: ["σ", 0.02, 20, "log"], length: ["length ℓ", 0.02, 20, "log"], radius: ["radius", 0.05, 20, "log"], period: ["period", 0.1, 20, "log"],
  gamma: ["γ", 0.01, 100, "log"], alpha: ["α", 0.05, 50, "log"], nu: ["ν", 0.5, 5, "linear"], degree: ["degree", 1, 10, "whole"], c: ["c", 0, 5, "linear"],
  order: ["order", 0, 2, "whole"], k: ["smoothness k", 0, 2, "whole"], value: ["value", 0.01, 10, "log"],
};

const NUMBER = "[0-9]+(?:\\.[0-9]*)?(?:[eE][+-]?[0-9]+)?";

/** The numbers of a kernel text that have sliders: hyper-parameters by name, and numbers with a decimal point. */
export function parametersOf(text) {
  const found = [];
  const named = new RegExp(`\\b(${Object.keys(RANGES).join("|")})\\s*=\\s*(${NUMBER}|auto)`, "g");
  for (const match of text.matchAll(named)) {
    const start = match.index + match[0].length - match[2].length;
    const [label, low, high, scale] = RANGES[match[1]];
    found.push({ key: match[1], label, low, high, scale, value: match[2], start, end: start + match[2].length });
  }
  for (const match of text.matchAll(/(?<![\w.=[,?])[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?(?![\w.])/g)) {
    const [start, end] = [match.index, match.index + match[0].length];
    if (found.some((other) => other.start <= start && end <= other.end)) continue;
    found.push({ key: "number", label: `number ${match[0]}`, low: 0.01, high: 100, scale: "log", value: match[0], start, end });
  }
  found.sort((a, b) => a.start - b.start);
  let plain = 0;
  for (const own of found) if (own.key === "number") own.label = `number ${(plain += 1)}`;
  return found;
}

/** A text with another value for one of its parameters. A number keeps its decimal point, which gives it a slider. */
export function withParameter(text, parameter, value) {
  let written = typeof value === "number" ? fewDigits(value, 4).replace("e", "e") : value;
  if (parameter.key === "number" && /^[0-9]+$/.test(written)) written += ".0";
  return text.slice(0, parameter.start) + written + text.slice(parameter.end);
}
