// Elements and formulas.

/** The element of an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** An element with attributes and children. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") Object.entries(value).forEach(([event, handler]) => element.addEventListener(event, handler));
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Typesets TeX into an element. */
export function typesetInto(element, tex, display = false) {
  try {
    katex.render(tex, element, { displayMode: display, throwOnError: true, output: "htmlAndMathml" });
  } catch {
    element.textContent = tex;
  }
}

/** Announces a text to screen readers. */
export function announce(text) {
  byId("announce").textContent = text;
}

/** A number in a few digits. */
export function fewDigits(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(digits - 1).replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

/** The message of an error. */
export function errorText(error) {
  return error.hint ? `${error.message}\n${error.hint}` : error.message;
}

/** Runs `work` soon, once for many calls. */
export function debounced(work, delay) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, delay);
  };
}

/** Saves bytes as a file. */
export function saveFile(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
