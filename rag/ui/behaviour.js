// What the page does by itself. Runs once, as `js_on_load` of the sources panel: `element`, `trigger` and `watch` are
// given by Gradio, KATEX by assets.py. A button says by its class what it does: do-ACTION-NUMBER or do-ACTION-NUMBER-REST.

const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const panel = () => find(".panel", element);
const box = () => find("#question textarea");
const parse = (link, kind) => new RegExp(`^#${kind}-(\\d+)-(\\d+)$`).exec(link?.getAttribute("href") ?? "");
const deed = (button) => {
  const name = [...button.classList].find((name) => name.startsWith("do-"));
  const found = /^do-([a-z]+)-(\d+)(?:-(.+))?$/.exec(name ?? "");
  return found && { action: found[1], number: Number(found[2]), rest: found[3] ?? "" };
};
// Which event of the panel takes an action to the server; all others are "input".
const EVENTS = {
  retry: "submit",
  ask: "submit",
  markdown: "download",
  json: "download",
  feedback: "download",
  whole: "expand",
};
const send = (what) => trigger(EVENTS[what.action] ?? "input", what);

// Components come into the page one after the other: calls `back` with this one when it is there, and whenever what is
// in it changes.
function watchOver(selector, back) {
  const there = find(selector);
  if (there) {
    back(there);
    new MutationObserver(() => back(there)).observe(there, { childList: true, subtree: true });
    return;
  }
  const waiting = new MutationObserver(() => {
    if (!find(selector)) return;
    waiting.disconnect();
    watchOver(selector, back);
  });
  waiting.observe(document.body, { childList: true, subtree: true });
}

// ---- Sources ----

// Pick out one quote of a text: 0 picks none. The marks stay where they are; only the chosen one is strong.
function pickOut(within, body, number) {
  const marks = all("mark", within);
  const cited = (mark) => mark.dataset.cites?.split(" ").includes(String(number));
  for (const mark of marks) mark.classList.toggle("selected", Boolean(cited(mark)));
  const first = marks.find((mark) => cited(mark) && mark.getClientRects().length);
  if (first) {
    const offset = first.getBoundingClientRect().top - body.getBoundingClientRect().top;
    body.scrollTop += offset - Math.min(120, body.clientHeight / 3);
  } else {
    body.scrollTop = 0;
  }
}

// Sources are drawn as they read: their signs are hidden by the style sheet, their formulas drawn here, with the KaTeX that
// Gradio brings. Whoever wants a source as it is written says so once for all of them.
let katex = null;
function loadKatex() {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = KATEX.css;
  document.head.append(style);
  return import(new URL(KATEX.js, document.baseURI).href).then((module) => module.default);
}
async function draw(within) {
  const formulas = all(".readable .formula:not(.drawn)", within);
  if (!formulas.length || !KATEX.js) return false;
  const { render } = await (katex ??= loadKatex());
  for (const formula of formulas.filter((formula) => !formula.matches(".drawn"))) {
    const drawing = document.createElement("span");
    drawing.className = "drawing";
    const displayMode = formula.matches(".display");
    const written = formula.textContent.trim().replace(/^(\$\$?|\\\()|(\$\$?|\\\))$/g, "");
    try {
      render(written, drawing, { displayMode, trust: false, strict: "ignore", maxSize: 20, maxExpand: 200 });
    } catch {
      continue; // what KaTeX cannot read stays as it is written
    }
    formula.classList.add("drawn");
    formula.after(drawing);
    if (drawing.scrollWidth > drawing.clientWidth && displayMode) drawing.tabIndex = 0;
  }
  return true;
}
// Formulas change where things stand: what is picked out is brought into view once more.
async function show(within, body, number) {
  pickOut(within, body, number);
  if ((await draw(within)) && body.isConnected) pickOut(within, body, number);
}
function setAsWritten(on) {
  document.documentElement.toggleAttribute("data-as-written", on);
  for (const button of all(".as-written")) button.setAttribute("aria-pressed", on);
}
const isAsWritten = () => document.documentElement.hasAttribute("data-as-written");
setAsWritten(localStorage.getItem("interview-rag.as-written") === "true");

// An update that says the same as the last one leaves the quote that was picked out since.
let said = "";
let chosen = 0;
function choose(turn, number) {
  const current = panel();
  if (!current || current.dataset.turn !== String(turn)) return false;
  chosen = number;
  show(current, find(".body", current), number);
  for (const link of all('#chat a[href^="#cite-"]')) {
    link.classList.toggle("selected", link.getAttribute("href") === `#cite-${turn}-${number}`);
  }
  return true;
}

// On a phone the panel is a sheet, and the list of conversations a drawer; elsewhere both always stand there.
const setOpen = (open) => find("#sources").toggleAttribute("data-open", open);
const drawer = () => find("#list-column");
function setDrawer(open) {
  if (open === drawer().hasAttribute("data-open")) return;
  const within = drawer().contains(document.activeElement);
  drawer().toggleAttribute("data-open", open);
  if (open) find(".close-drawer")?.focus();
  else if (within) find(".drawer")?.focus();
}

// The whole source lies over the page until it is closed; the focus then goes back to where it was.
const whole = () => find("#whole");
const isWholeOpen = () => Boolean(whole()?.hasAttribute("data-open"));
let before = null;
function setWhole(open) {
  if (open === isWholeOpen()) return;
  whole().toggleAttribute("data-open", open);
  if (open) {
    before = document.activeElement;
    find(".whole .close")?.focus();
  } else {
    before?.focus?.();
  }
}
let shownWhole = null;
watchOver("#whole", () => {
  const shown = find(".whole");
  if (!shown || shown === shownWhole) return;
  shownWhole = shown;
  setWhole(true);
  setAsWritten(isAsWritten());
  show(shown, find(".body", shown), shown.dataset.selected);
});

// ---- The quote of a marker, while it is pointed at or has the focus ----

const tip = document.createElement("div");
tip.id = "quote-tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);
const marker = (target) => {
  const link = target.closest?.('#chat a[href^="#cite-"]');
  return link && !link.getAttribute("href").endsWith("-0") ? link : null;
};
function showTip(link) {
  if (link.title) {
    link.dataset.quote = link.title;
    link.removeAttribute("title"); // the browser would show it a second time
  }
  if (!link.dataset.quote) return;
  tip.textContent = link.dataset.quote;
  tip.hidden = false;
  link.setAttribute("aria-describedby", tip.id);
  const place = link.getBoundingClientRect();
  const left = Math.max(8, Math.min(place.left, innerWidth - tip.offsetWidth - 8));
  const above = place.top - tip.offsetHeight - 6;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : place.bottom + 6}px`;
}
const hideTip = () => (tip.hidden = true);
// The pointer may go from the marker onto the quote, to read or to select it.
let leaving = 0;
function pointAt(event) {
  clearTimeout(leaving);
  const link = marker(event.target);
  if (link) showTip(link);
  else if (!tip.contains(event.target)) leaving = setTimeout(hideTip, event.type === "focusin" ? 0 : 250);
}
document.addEventListener("mouseover", pointAt);
document.addEventListener("focusin", pointAt);
document.addEventListener("scroll", hideTip, true);
// A drawer that the keyboard has left would lie over what has the focus.
document.addEventListener("focusin", (event) => {
  if (drawer()?.hasAttribute("data-open") && !drawer().contains(event.target)) setDrawer(false);
});

// ---- Clicks ----

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const cite = parse(link, "cite");
  const ask = parse(link, "ask");
  const written = event.target.closest?.(".as-written");
  const button = event.target.closest?.("button");
  const what = button && deed(button);
  if (!tip.contains(event.target)) hideTip();
  for (const menu of all("details.menu[open]")) {
    if (!menu.contains(event.target) || what) menu.open = false;
  }
  if (cite) {
    event.preventDefault();
    setOpen(true);
    const [turn, number] = [Number(cite[1]), Number(cite[2])];
    // Sources of another question are fetched; the panel then says which quote to pick out.
    if (!choose(turn, number)) trigger("select", { action: "pick", number: turn, rest: String(number) });
  } else if (ask) {
    event.preventDefault();
    send({ action: "ask", number: Number(ask[1]), rest: ask[2] });
  } else if (what) {
    act(what, button);
  } else if (written) {
    setAsWritten(!isAsWritten());
    localStorage.setItem("interview-rag.as-written", isAsWritten());
  } else if (event.target.closest?.(".panel .close")) {
    setOpen(false);
  } else if (event.target.closest?.("#whole .close") || event.target === whole()) {
    setWhole(false);
  } else if (event.target.closest?.(".drawer")) {
    setDrawer(true);
  } else if (!event.target.closest?.("#list-column")) {
    setDrawer(false);
  } else if (event.target.closest?.("#clear, .close-drawer")) {
    setDrawer(false);
  }
});

function act(what, button) {
  if (what.action === "copy") return copy(button);
  if (what.action === "rename") return rename(what.number, button.closest("li"));
  const shown = find(".whole");
  if (what.action === "whole" && shown?.dataset.of === `${what.number}-${what.rest}`) return setWhole(true);
  send(what);
  if (what.action === "open") setDrawer(false);
  if (what.action === "edit" || what.action === "unedit") box().focus();
}

function rename(number, item) {
  const input = find("input", item);
  const end = (keep) => {
    if (input.hidden) return;
    input.hidden = true;
    const title = input.value.trim();
    if (keep && title && title !== input.defaultValue) send({ action: "rename", number, rest: title });
  };
  input.hidden = false;
  input.value = input.defaultValue;
  input.focus();
  input.select();
  input.onblur = () => end(true);
  input.onkeydown = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") end(true);
    if (event.key === "Escape") {
      event.stopPropagation();
      end(false);
    }
  };
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest?.("form.opinion");
  if (!form) return;
  event.preventDefault();
  const values = new FormData(form);
  const number = Number(form.dataset.number);
  send({ action: "opine", number, reasons: values.getAll("reason"), note: values.get("note") });
});

// ---- Keys ----

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  if (event.key === "Escape") escape();
  // Gradio takes no question while another is being answered, and does not say so.
  if (event.key === "Enter" && !event.shiftKey && event.target === box()) {
    find("#strip").toggleAttribute("data-busy", Boolean(find("#stop")?.offsetParent && box().value.trim()));
  }
  if (event.key === "ArrowUp" && event.target === box() && box().value === "") {
    const last = all("#chat button.edit").at(-1);
    if (last) {
      event.preventDefault();
      act(deed(last), last);
    }
  }
  if (event.key === "Tab" && isWholeOpen()) keepFocus(event);
});

// Esc closes what lies on top; where nothing does, it stops the answer that is being written.
function escape() {
  const menu = find("details.menu[open]");
  if (!tip.hidden) hideTip();
  else if (menu) menu.open = false;
  else if (isWholeOpen()) setWhole(false);
  else if (find("#list-column[data-open]")) setDrawer(false);
  else if (find("#stop")?.offsetParent) find("#stop").click();
  else if (find("#strip .do-unedit-0")) send({ action: "unedit", number: 0, rest: "" });
  else if (find("#strip .do-unjudge-0")) send({ action: "unjudge", number: 0, rest: "" });
  else setOpen(false);
}

function keepFocus(event) {
  const stops = all("button, [tabindex='0']", whole()).filter((stop) => stop.offsetParent);
  const at = stops.indexOf(document.activeElement) + (event.shiftKey ? -1 : 1);
  event.preventDefault();
  stops.at(at < stops.length ? at : 0)?.focus();
}

// Enter that confirms a word of an input method must not send the question.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.stopPropagation();
  },
  true,
);

// ---- Copying, and files to save ----

// Gradio's own button, which the style sheet hides, takes the Markdown that we sent; give the reader what was answered.
function copy(button) {
  const rows = all("#chat .bot-row");
  all("#chat .message-buttons-left button")[rows.indexOf(button.closest(".bot-row"))]?.click();
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1500);
}
// Over plain HTTP from another machine a browser has no clipboard to write to; what is selected can be copied all the same.
async function writeSelected(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.cssText = "position: fixed; opacity: 0";
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  focused?.focus?.();
}
const write = navigator.clipboard?.writeText.bind(navigator.clipboard) ?? writeSelected;
if (!navigator.clipboard) Object.defineProperty(navigator, "clipboard", { value: {} });
navigator.clipboard.writeText = (text) => write(asAnswered(text));
function asAnswered(text) {
  const below = text.lastIndexOf('<div class="after">');
  return (below < 0 ? text : text.slice(0, below))
    .replace(/^<div class="lead">.*?<\/div>\s*/, "")
    .replace(/\[(\d+)\]\(#cite-\d+-\d+ "[^"]*"\)/g, "[$1]")
    .replace(/<span class="unsupported"[^>]*>(.*?)<\/span>/g, "$1")
    .replace(/[\ue004\ue005]/g, "$$")
    .replace(/[\ue002\ue003]/g, "$$$$")
    .replaceAll("&lt;", "<")
    .trimEnd();
}

watchOver("#parcel", () => {
  const parcel = find("#parcel [data-parcel]:not([data-taken])");
  if (!parcel) return;
  parcel.dataset.taken = "";
  const file = JSON.parse(parcel.dataset.parcel);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.text], { type: `${file.type};charset=utf-8` }));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
});

// Gradio names a message by all of its Markdown; what stands in it tells more.
watchOver("#chat", (chat) => {
  for (const message of all("[data-testid][aria-label]", chat)) message.removeAttribute("aria-label");
});

// ---- What is remembered in this browser ----

const remembered = (key) => `interview-rag.${key}`;
// A tab that is loaded anew shows the conversation that it showed.
const open = () => Number(find(".panel", element)?.dataset.conversation ?? 0);
const last = Number(sessionStorage.getItem(remembered("conversation")));

// ---- Whenever the panel has changed ----

// A new question goes to the top of the view, so that its answer is read from the beginning.
let newest = "";
function bringUp() {
  const started = performance.now();
  const step = () => {
    const asked = all("#chat .message-row.user-row").at(-1);
    const view = find("#chat .bubble-wrap");
    if (asked && view) view.scrollTop += asked.getBoundingClientRect().top - view.getBoundingClientRect().top - 12;
    if (performance.now() - started < 400) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

let greeted = false;
let done = 0;
function refresh() {
  const current = panel();
  if (!current) return;
  // Gradio sends the end of an answer twice. The second time must not undo what the reader has done in between.
  const stale = Number(current.dataset.done) < done;
  done = stale ? 0 : Number(current.dataset.done);
  if (stale) return send({ action: "show", number: 0, rest: "" });
  const turn = Number(current.dataset.turn);
  document.documentElement.lang = current.dataset.language;
  setAsWritten(isAsWritten());
  const says = `${open()}/${turn}/${current.dataset.selected}`;
  choose(turn, says === said ? chosen : Number(current.dataset.selected));
  said = says;
  const [conversation, highest] = newest.split("/").map(Number);
  if (turn && (conversation !== open() || turn > highest)) {
    newest = `${open()}/${turn}`;
    bringUp();
  }
  if (greeted) sessionStorage.setItem(remembered("conversation"), open());
}

// Gradio calls the examples a list, of buttons, which a list may not have.
new MutationObserver(() => {
  for (const list of document.querySelectorAll("#chat .examples[role=list]")) list.setAttribute("role", "group");
}).observe(document.getElementById("chat-column"), { childList: true, subtree: true });

watch("value", refresh);
refresh();
// The page has greeted when the list of conversations is there.
watchOver("#conversations", (list) => {
  if (greeted || !find(".conversations", list)) return;
  greeted = true;
  if (last && !open()) send({ action: "open", number: last, rest: "" });
});
