// Light or dark, before the first paint: the user's choice, else the system's.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("mercer-theme"); } catch { /* A page of a file has no storage in some browsers. */ }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
