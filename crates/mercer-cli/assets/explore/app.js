import { get, onChange, readLink, readRecorded, set } from "./state.js";
import { ask, isIdle, isRecorded, recordedState } from "./api.js";
import { byId, debounced, el } from "./dom.js";
import { checkSoon, showFormula, startFormula } from "./formula.js";
import { dataPanel, loadPoints, startData } from "./data.js";
import { drawModel, fitNow, showSettings, startModel } from "./model.js";
import { showFilm } from "./film.js";
import { machineryPanel } from "./machinery.js";
import { comparePanel } from "./compare.js";
import { tuningPanel } from "./tuning.js";
import { leavePanel } from "./leave.js";

// The page: starts the parts and notifies them of changes.

const KNOWN = new Set(["kernel", "dim", "domain", "data", "n", "noise", "seed", "points", "dims", "kind", "labels", "names", "x", "z", "scale", "method", "lambda", "C", "nu", "epsilon", "k", "gpnoise", "epochs", "step", "bias", "assume", "approx", "features", "pivot", "tab", "view", "bumps"]);
const DATA_KEYS = ["data", "n", "noise", "seed", "dims", "kind", "labels", "names", "x", "z", "scale"];
const FIT_KEYS = ["kernel", "method", "lambda", "C", "nu", "epsilon", "k", "gpnoise", "epochs", "step", "bias", "assume", "points"];
const TABS = [["machinery", "Machinery", machineryPanel], ["compare", "Exact and approximate", comparePanel], ["tuning", "Tuning", tuningPanel], ["points", "Own data", dataPanel], ["leave", "Take it away", leavePanel]];

const panels = new Map();

function startTabs() {
  for (const [name, title, make] of TABS) {
    const tab = el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, on: { click: () => set({ tab: name }), keydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = TABS[(TABS.findIndex((own) => own[0] === name) + step + TABS.length) % TABS.length][0];
      set({ tab: next });
      byId(`tab-${next}`).focus();
    } } }, title);
    const panel = make();
    const host = el("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true }, panel.element);
    byId("tabs").append(tab);
    byId("panels").append(host);
    panels.set(name, panel);
  }
}

function showTab() {
  const chosen = panels.has(get("tab")) ? get("tab") : "machinery";
  for (const [name] of TABS) {
    const on = name === chosen;
    byId(`tab-${name}`).setAttribute("aria-selected", String(on));
    byId(`tab-${name}`).tabIndex = on ? 0 : -1;
    byId(`panel-${name}`).hidden = !on;
  }
}

const panelSoon = debounced(() => panels.get(get("tab"))?.refresh(), 120);

function everything() {
  showFormula();
  checkSoon();
  showTab();
  loadPoints(afterPoints, noPoints);
}

function afterPoints() {
  showSettings();
  showFilm();
  fitNow();
  panelSoon();
}

function noPoints(text) {
  byId("refused").textContent = text;
  byId("refused").hidden = false;
}

function startTheme() {
  const button = byId("theme");
  const show = () => {
    const dark = document.documentElement.dataset.theme === "dark";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("mercer-theme", next); } catch { /* It lasts as long as the page, then. */ }
    show();
    document.dispatchEvent(new Event("themechange"));
  });
  show();
}

onChange((changed) => {
  const any = (keys) => keys.some((key) => changed.has(key));
  if (any(["kernel", "dim", "domain"])) { showFormula(); checkSoon(); }
  if (changed.has("tab")) { showTab(); panelSoon(); }
  if (any(["bumps", "view"])) { showSettings(); drawModel(); }
  if (any(DATA_KEYS) || (changed.has("points") && get("data") !== "points")) loadPoints(afterPoints, noPoints);
  else if (any(FIT_KEYS)) {
    showSettings();
    if (any(["method", "kernel", "epochs", "points"])) showFilm();
    fitNow();
    panelSoon();
  } else if (any(["approx", "features", "pivot"])) panelSoon();
});

document.addEventListener("modeldrawn", () => { if (get("tab") === "leave") panels.get("leave").refresh(); });

function begin() {
  startTheme();
  if (isRecorded()) {
    readRecorded(recordedState());
    byId("recorded").hidden = false;
    for (const id of ["preset", "formula", "dim", "domain", "data", "method"]) byId(id).disabled = true;
  } else readLink(KNOWN);
  startFormula();
  startModel();
  startTabs();
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); byId("model").focus(); });
  addEventListener("hashchange", () => { if (!isRecorded()) { readLink(KNOWN); everything(); } });
  ask("start", (answer) => {
    startData(answer);
    everything();
  }, (error) => noPoints(error.message));
}

/** For tests: whether the page is idle. */
window.mercerIdle = () => isIdle();

begin();
