// The theme chosen by the reader overrides the system's. Runs once, as `js_on_load` of a component that is always on the
// page; the settings change it through `window.chooseTheme`.
const KEY = "interview-rag.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function apply() {
  const chosen = localStorage.getItem(KEY) ?? "system";
  const dark = chosen === "dark" || (chosen === "system" && system.matches);
  if (document.body.classList.contains("dark") !== dark) document.body.classList.toggle("dark", dark);
}

window.chosenTheme = () => localStorage.getItem(KEY) ?? "system";
window.chooseTheme = (name) => {
  if (name === "system") localStorage.removeItem(KEY);
  else if (name === "light" || name === "dark") localStorage.setItem(KEY, name);
  apply();
};
// Gradio sets the class whenever the system's theme changes.
new MutationObserver(apply).observe(document.body, { attributes: true, attributeFilter: ["class"] });
system.addEventListener("change", apply);
apply();
