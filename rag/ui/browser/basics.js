// What the page does by itself. The files of this folder run once, in the order that assets.py gives them, as one script:
// `js_on_load` of the sources panel. `element`, `trigger` and `watch` are given by Gradio, KATEX, WORDS and MAX_QUESTION
// by assets.py. A button says by its class what it does: do-ACTION-NUMBER or do-ACTION-NUMBER-REST (a long
// REST is its data-rest).

const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const panel = () => find(".panel", element);
// The conversation that is shown; 0 is a new one.
const open = () => Number(panel()?.dataset.conversation ?? 0);
const box = () => find("#question textarea");
const parse = (link, kind) => new RegExp(`^#${kind}-(\\d+)-(\\d+)(?:-(\\d+))?$`).exec(link?.getAttribute("href") ?? "");
const remembered = (key) => `interview-rag.${key}`;
const words = () => WORDS[document.documentElement.lang] ?? WORDS.en;
const deed = (button) => {
  const name = [...button.classList].find((name) => name.startsWith("do-"));
  const found = /^do-([a-z]+)-(\d+)(?:-(.+))?$/.exec(name ?? "");
  return found && { action: found[1], number: Number(found[2]), rest: button.dataset.rest ?? found[3] ?? "" };
};
// Which event of the panel takes an action to the server; all others are "input".
const EVENTS = {
  send: "submit",
  retry: "submit",
  lookon: "submit",
  ask: "submit",
  markdown: "download",
  json: "download",
  feedback: "download",
  whole: "expand",
  import: "upload",
  large: "apply",
  offer: "key_up",
};
// What decides where the next question is asked, and from what: it waits until this is done.
const STEPS = ["new", "open", "about", "delete", "restore", "import", "branch", "scope", "unscope"];
function send(what) {
  if (STEPS.includes(what.action)) awaitStep();
  trigger(EVENTS[what.action] ?? "input", what);
}

// How long a model has been waited for, told by the second once that is long. The clock runs only meanwhile.
let counting = 0;
function countWaiting() {
  clearTimeout(counting);
  const waiting = find("#chat .waiting[class*=since-]");
  if (!waiting) return;
  const seconds = Math.floor((Date.now() - /since-(\d+)/.exec(waiting.className)[1]) / 1_000);
  if (seconds >= 2) waiting.dataset.seconds = ` · ${seconds} s`;
  counting = setTimeout(countWaiting, 1_000);
}

// Components come into the page one after the other: calls `back` with this one when it is there, and whenever what is
// in it changes, or the words that it answers.
function watchOver(selector, back) {
  const there = find(selector);
  if (there) {
    back(there);
    const observed = { childList: true, subtree: true, attributeFilter: ["data-words"] };
    new MutationObserver(() => back(there)).observe(there, observed);
    return;
  }
  const waiting = new MutationObserver(() => {
    if (!find(selector)) return;
    waiting.disconnect();
    watchOver(selector, back);
  });
  waiting.observe(document.body, { childList: true, subtree: true });
}
