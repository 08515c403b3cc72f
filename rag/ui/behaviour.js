// What the page does by itself. Runs once, as `js_on_load` of the sources panel: `element`, `trigger` and `watch` are
// given by Gradio.

const panel = () => element.querySelector(".panel");
const parse = (link, kind) => new RegExp(`#${kind}-(\\d+)-(\\d+)$`).exec(link?.getAttribute("href") ?? "");

// Pick out one quote of the panel: 0 picks none. The marks stay where they are; only the chosen one is strong.
function choose(turn, number) {
  const current = panel();
  if (!current || current.dataset.turn !== String(turn)) return false;
  current.dataset.selected = number;
  const marks = [...current.querySelectorAll("mark")];
  const cited = (mark) => mark.dataset.cites.split(" ").includes(String(number));
  for (const mark of marks) mark.classList.toggle("selected", cited(mark));
  for (const link of document.querySelectorAll('#chat a[href^="#cite-"]')) {
    link.classList.toggle("selected", link.getAttribute("href") === `#cite-${turn}-${number}`);
  }
  const first = marks.find(cited);
  const body = current.querySelector(".body");
  if (first) {
    const offset = first.getBoundingClientRect().top - body.getBoundingClientRect().top;
    body.scrollTop += offset - Math.min(120, body.clientHeight / 3);
  } else {
    body.scrollTop = 0;
  }
  return true;
}

// On a phone the panel is a sheet that is opened and closed; elsewhere it always stands there.
const setOpen = (open) => document.getElementById("sources").toggleAttribute("data-open", open);

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const cite = parse(link, "cite");
  const ask = parse(link, "ask");
  if (cite) {
    event.preventDefault();
    setOpen(true);
    const [turn, number] = [Number(cite[1]), Number(cite[2])];
    // Sources of another question are fetched; the panel then says which quote to pick out.
    if (!choose(turn, number)) trigger("select", { turn, number });
  } else if (ask) {
    event.preventDefault();
    trigger("submit", { turn: Number(ask[1]), number: Number(ask[2]) });
  } else if (event.target.closest?.(".panel .close")) {
    setOpen(false);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") setOpen(false);
});

// Enter that confirms a word of an input method must not send the question.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.stopPropagation();
  },
  true,
);

// A new question goes to the top of the view, so that its answer is read from the beginning.
let newest = 0;
function bringUp(turn) {
  newest = turn;
  const started = performance.now();
  const step = () => {
    const asked = [...document.querySelectorAll("#chat .message-row.user-row")].at(-1);
    const view = document.querySelector("#chat .bubble-wrap");
    if (asked && view) view.scrollTop += asked.getBoundingClientRect().top - view.getBoundingClientRect().top - 12;
    if (performance.now() - started < 400) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

// The copy button takes the Markdown that we sent; give the reader what was answered.
if (navigator.clipboard) {
  const write = navigator.clipboard.writeText.bind(navigator.clipboard);
  navigator.clipboard.writeText = (text) => write(asAnswered(text));
}
function asAnswered(text) {
  return text
    .replace(/\n*\[[^\]\n]*\]\(#cite-\d+-0\)/g, "")
    .replace(/\[(\d+)\]\(#cite-\d+-\d+ "[^"]*"\)/g, "[$1]")
    .replace(/[\ue004\ue005]/g, "$$")
    .replace(/[\ue002\ue003]/g, "$$$$")
    .replaceAll("&lt;", "<");
}

function refresh() {
  const current = panel();
  if (!current) return;
  const turn = Number(current.dataset.turn);
  document.documentElement.lang = current.dataset.language;
  choose(turn, Number(current.dataset.selected));
  if (turn > newest) bringUp(turn);
}

// Gradio calls the examples a list, of buttons, which a list may not have.
new MutationObserver(() => {
  for (const list of document.querySelectorAll("#chat .examples[role=list]")) list.setAttribute("role", "group");
}).observe(document.getElementById("chat-column"), { childList: true, subtree: true });

watch("value", refresh);
refresh();
