import { el, fewDigits, typesetInto } from "./dom.js";
import { Plot, extent, withRoom } from "./canvas.js";
import { css, classColour } from "./colour.js";

// Proofs as trees that unfold, and counter-examples as pictures.

/** A formula as an element: typeset if there is TeX, else as text. */
function formElement(node) {
  const form = el("div", { class: "form", tabindex: "0", role: "math", "aria-label": node.form ?? "" });
  if (node.tex) typesetInto(form, node.tex);
  else form.append(el("code", {}, node.form ?? ""));
  return form;
}

/** The tree of a proof. The first levels are open. */
export function proofTree(proof, depth = 0) {
  const premises = proof.premises ?? [];
  const head = [el("span", { class: "rule" }, proof.rule), ` · ${proof.claim ?? ""}`];
  const body = [formElement(proof)];
  if (proof.reference) body.push(el("p", { class: "reference" }, proof.reference));
  if (proof.text) body.push(el("p", { class: "note" }, proof.text));
  if (premises.length > 0) body.push(el("ul", {}, ...premises.map((premise) => el("li", {}, proofTree(premise, depth + 1)))));
  return el("details", { open: depth < 2 }, el("summary", {}, ...head), ...body);
}

/** The picture of a counter-example: the points with their weights, and the negative number. */
export function counterExample(refutation) {
  const host = el("div", {});
  if (refutation.text) host.append(el("p", {}, refutation.text));
  if (refutation.kind !== "points" || !refutation.points?.length) return host;
  const { points, weights } = refutation;
  const dims = points[0].length;
  const canvas = el("canvas", { role: "img", class: "wide" });
  canvas.style.width = "100%";
  canvas.style.height = dims === 1 ? "90px" : "200px";
  canvas.style.display = "block";
  const told = points.map((point, i) => `(${point.map((v) => fewDigits(v)).join(", ")}) with weight ${fewDigits(weights[i])}`).join("; ");
  canvas.setAttribute("aria-label", `Counter-example: ${told}`);
  const draw = () => {
    if (canvas.clientWidth === 0) return;
    const plot = new Plot(canvas);
    const xs = points.map((point) => point[0]);
    const ys = points.map((point) => (dims > 1 ? point[1] : 0));
    plot.begin({ x: withRoom(extent(xs), 0.2), y: dims > 1 ? withRoom(extent(ys), 0.25) : [-1, 1], margin: { left: dims > 1 ? 40 : 12, right: 12, top: 10, bottom: 30 } });
    if (dims > 1) plot.axes(["x₁", ""], { grid: true });
    else {
      plot.line(plot.x, [0, 0], plot.ink.soft, 1);
      plot.axes(["x", ""], { both: false });
    }
    const most = Math.max(...weights.map(Math.abs));
    points.forEach((_, i) => {
      const radius = 4 + 9 * Math.sqrt(Math.abs(weights[i]) / most);
      const colour = classColour(weights[i] > 0 ? 0 : 1);
      plot.dot(xs[i], ys[i], { colour: css(colour, 0.65), edge: css(colour), radius });
    });
  };
  new ResizeObserver(draw).observe(canvas);
  document.addEventListener("themechange", draw);
  const sum = el("div", { class: "form" });
  typesetInto(sum, `\\sum_{i,j} w_i w_j\\,k(x_i,x_j) = ${fewDigits(refutation.value, 4).replace(/e(-?\d+)/, "\\cdot 10^{$1}")} < 0`);
  const two = dims > 2 ? " The first two of their coordinates are drawn." : "";
  host.append(canvas, el("p", { class: "hint" }, `${points.length} points; the area of a dot is its weight, blue above and orange below 0.${two}`), sum);
  const rows = points.slice(0, 12).map((point, i) => el("tr", {}, el("td", {}, `(${point.map((v) => fewDigits(v)).join(", ")})`), el("td", {}, fewDigits(weights[i]))));
  host.append(el("details", {}, el("summary", {}, "Points and weights"), el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "point"), el("th", { scope: "col" }, "weight"))), el("tbody", {}, ...rows))));
  return host;
}
