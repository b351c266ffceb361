// The state of the page: keys and values, kept in the link. Keys that are not set have their defaults.

export const defaults = {
  kernel: "rbf(sigma=0.5)", dim: "any", domain: "all", n: "120", seed: "0", lambda: "0.1", C: "1", nu: "0.2", epsilon: "0.1",
  k: "5", gpnoise: "0.1", epochs: "100", bias: "centred", approx: "fourier", features: "100", pivot: "0", tab: "machinery", bumps: "yes", view: "map",
};

const values = new Map();
const watchers = new Set();

/** The value of a key, or its default. */
export function get(key) {
  return values.get(key) ?? defaults[key] ?? "";
}

/** Whether a key is set. */
export function has(key) {
  return values.has(key);
}

/** Changes some keys; an empty value or the default removes a key. Watchers receive the changed keys. */
export function set(changes) {
  const changed = new Set();
  for (const [key, value] of Object.entries(changes)) {
    const text = value === null || value === undefined ? "" : String(value);
    const before = get(key);
    if (text === "" || text === defaults[key]) values.delete(key);
    else values.set(key, text);
    if (get(key) !== before) changed.add(key);
  }
  if (changed.size > 0) {
    writeLink();
    watchers.forEach((watch) => watch(changed));
  }
}

/** Calls `watch` with the keys of each change. */
export function onChange(watch) {
  watchers.add(watch);
}

/** The keys and values that a request has. */
export function snapshot(more = {}) {
  const state = Object.fromEntries(values);
  for (const own of ["tab", "bumps", "view"]) delete state[own];
  for (const [key, value] of Object.entries(more)) state[key] = String(value);
  return state;
}

/** The state as the part of a link after `#`. */
export function linkText() {
  const escape = (text) => encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%3B", ";").replaceAll("%3D", "=").replaceAll("%2B", "+").replaceAll("%3A", ":");
  return [...values].map(([key, value]) => `${key}=${escape(value)}`).join("&");
}

let linkTimer = 0;

function writeLink() {
  // Browsers limit how often the address may change.
  clearTimeout(linkTimer);
  linkTimer = setTimeout(() => history.replaceState(null, "", `#${linkText()}`), 150);
}

/** Reads the state from the address; unknown keys are ignored. */
export function readLink(known) {
  values.clear();
  for (const pair of location.hash.slice(1).split("&").filter(Boolean)) {
    const at = pair.indexOf("=");
    const key = at < 0 ? pair : pair.slice(0, at);
    if (!known.has(key)) continue;
    try {
      const value = decodeURIComponent(at < 0 ? "" : pair.slice(at + 1));
      if (value !== "") values.set(key, value);
    } catch { /* An escape that is none: the key keeps its default. */ }
  }
}

/** Uses a recorded state. */
export function readRecorded(state) {
  values.clear();
  Object.entries(state).forEach(([key, value]) => values.set(key, value));
}
