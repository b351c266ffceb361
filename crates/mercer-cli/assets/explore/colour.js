// Colours of the pictures, for a light and a dark page.

const CLASS_COLOURS = {
  light: [[38, 101, 201], [201, 96, 8], [124, 58, 190], [14, 124, 92], [176, 32, 88], [90, 98, 112], [120, 110, 0], [0, 120, 150], [150, 70, 40], [60, 60, 160]],
  dark: [[110, 168, 255], [255, 165, 84], [190, 146, 255], [92, 214, 172], [255, 132, 176], [176, 186, 200], [214, 204, 92], [96, 206, 232], [232, 160, 128], [164, 164, 255]],
};

/** Whether the page is dark. */
export function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

/** The colours of lines and texts. */
export function inks() {
  return isDark()
    ? { ink: "#e8edf4", soft: "#a3afbf", line: "#2b3544", card: "#161d27", field: [22, 29, 39], accent: "#9aa8ff", bad: "#ff9d94", good: "#7fdca8", bump: "rgba(154,168,255,.4)" }
    : { ink: "#18212d", soft: "#55606f", line: "#d9dfe7", card: "#ffffff", field: [255, 255, 255], accent: "#3346c4", bad: "#b3261e", good: "#0f6b3c", bump: "rgba(51,70,196,.28)" };
}

/** The colour of a class as red, green and blue. */
export function classColour(code) {
  const colours = CLASS_COLOURS[isDark() ? "dark" : "light"];
  return colours[code % colours.length];
}

/** A colour in CSS notation. */
export function css(colour, alpha = 1) {
  return `rgba(${colour.map(Math.round).join(",")},${alpha})`;
}

/** A colour between two others. */
export function blend(a, b, t) {
  return a.map((v, i) => v + (b[i] - v) * t);
}

const STOPS = [[48, 18, 92], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** Dark violet to yellow, for numbers from 0 to 1. */
export function sequential(t) {
  const place = Math.min(Math.max(t, 0), 1) * (STOPS.length - 1);
  const at = Math.min(Math.floor(place), STOPS.length - 2);
  return blend(STOPS[at], STOPS[at + 1], place - at);
}
