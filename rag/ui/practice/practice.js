// The practice room in the browser: buttons and forms send actions to the server, typed text is kept, the timer runs, and
// keys press the buttons that name them.
const room = () => document.getElementById("room-practice");
const within = (target, selector) =>
  element.isConnected && room()?.contains(target) ? target.closest?.(selector) : null;
// The event of the view that takes an action to the server; "select" for all others.
const EVENTS = {
  filter: "edit",
  plan: "edit",
  keep: "input",
  grade: "submit",
  answer: "submit",
  restore: "upload",
  source: "expand",
  export: "download",
  backup: "download",
  "save-report": "download",
};
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
let top = 0; // how far down the view was read that is being left
function send(action, rest = "", fields = {}) {
  if (action !== "keep") top = room().scrollTop;
  trigger(EVENTS[action] ?? "select", { action, rest, fields, zone });
}
const fieldsOf = (form) => Object.fromEntries([...new FormData(form)].filter(([, value]) => typeof value === "string"));

// ---- Typed text ----

// The browser keeps it, for each reader who signs in, until the server confirms that it has this very text: a reload, a
// closed tab, or a server that is down or slow loses nothing. Every change is an edition with its own number.
const typed = {};
const later = {};
// For each box: the text that the server was last known to have, then the texts sent since, which it may have. A kept text
// is restored only over one of these; any other was written elsewhere, and is newer.
const bases = {};
const MOST_BASES = 4;
// For each box: the text that the server confirmed last, and those before it. A view that was drawn earlier may arrive
// later, also after a change of language, which resets all of this except for these texts.
const acknowledged = (globalThis.practiceAcknowledged ??= {});
// A change of language does not reset the count: a response to text sent before it must not pass for one to a later
// edition.
const editions = (globalThis.practiceEditions ??= { last: 0 });
const placeOf = (key) => `interview-rag.practice.${document.querySelector("#account a")?.title ?? ""}.${key}`;
function keepTyped(key, text) {
  typed[key] = { text, edition: ++editions.last };
  clearTimeout(later[key]);
  later[key] = setTimeout(() => sendTyped(key), 700);
  store(key);
}
function store(key) {
  const kept = { text: typed[key].text, bases: bases[key]?.map((base) => base.text) };
  try {
    localStorage.setItem(placeOf(key), JSON.stringify(kept));
  } catch {
    // The storage is full or forbidden: the text is sent to the server all the same.
  }
}
function stored(key) {
  try {
    return JSON.parse(localStorage.getItem(placeOf(key)));
  } catch {
    return null;
  }
}
function addBase(key, text, edition) {
  bases[key] = [...(bases[key] ?? []), { text, edition }].slice(-MOST_BASES);
  if (typed[key]) store(key);
}
function sendTyped(key) {
  clearTimeout(later[key]);
  delete later[key];
  const [field, ...question] = key.split(":");
  const { text, edition } = typed[key];
  addBase(key, text, edition);
  send("keep", "", { field, question: question.join(":"), text, edition });
}
// The server has a box's text up to this edition.
function forgetTyped(key, upTo) {
  const there = typed[key];
  const known = bases[key] ?? [];
  const place = known.findIndex((base) => base.edition === upTo);
  if (place >= 0) {
    const { text } = known[place];
    const last = acknowledged[key];
    const before = [...(last ? [...last.before, last.text] : []), ...known.slice(0, place).map((base) => base.text)];
    acknowledged[key] = { text, before: before.filter((earlier) => earlier !== text).slice(-MOST_BASES) };
    bases[key] = known.slice(place);
  }
  if (!there) return;
  if (there.edition > upTo) return store(key);
  clearTimeout(later[key]);
  delete later[key];
  delete typed[key];
  if (stored(key)?.text === there.text) localStorage.removeItem(placeOf(key)); // else it is another tab's
}
// Restores text that the server had not confirmed when the page was left.
function restoreTyped(box) {
  const key = box.dataset.keep;
  if (typed[key]) {
    box.value = typed[key].text;
    return;
  }
  const late = acknowledged[key]?.before.includes(box.defaultValue);
  const there = late ? acknowledged[key].text : box.defaultValue;
  if (late) box.value = there;
  bases[key] = [{ text: there, edition: 0 }];
  const kept = stored(key);
  const known = kept ? [...(kept.bases ?? []), kept.text] : [];
  if (!known.includes(there)) return;
  // Text sent before the page was left, or changed its language, may still reach the server.
  bases[key] = known.map((text) => ({ text, edition: 0 })).slice(-MOST_BASES);
  box.value = kept.text;
  keepTyped(key, kept.text);
}
const flush = () => Object.keys(later).forEach(sendTyped);

document.addEventListener("input", (event) => {
  const key = within(event.target, "textarea[data-keep]")?.dataset.keep;
  if (key) keepTyped(key, event.target.value);
});
addEventListener("pagehide", () => element.isConnected && flush());

// ---- Clicks, forms and keys ----

document.addEventListener("click", (event) => {
  if (within(event.target, "[data-print]")) return print();
  const button = within(event.target, "button[data-act]");
  if (!button) return;
  chosen = "";
  flush();
  const { act, rest } = button.dataset;
  if (act === "bookmark") mark(button);
  const fields = button.form ? fieldsOf(button.form) : { ...button.dataset };
  if (act === "rate") fields.seconds = String(Math.round((Date.now() - begun) / 1000));
  send(act, rest, fields);
});
// A bookmark shows at once; the boxes beside it stay as they are.
function mark(button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", on);
  button.textContent = on ? "★" : "☆";
}

document.addEventListener("submit", (event) => {
  const form = within(event.target, "form[data-act]");
  if (!form) return;
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  const { act } = form.dataset;
  if (act === "grade" || act === "answer") {
    // The graded text is sent along, as an edition later than any draft that is still on its way.
    editions.last += 1;
    for (const box of form.querySelectorAll("[data-keep]")) {
      clearTimeout(later[box.dataset.keep]);
      delete later[box.dataset.keep];
      addBase(box.dataset.keep, "", editions.last);
    }
    form.ariaBusy = "true";
  }
  flush();
  send(act, "", { ...fieldsOf(form), edition: editions.last });
});
// A filter and a plan apply while they are changed: once for text typed in one go, since a change may be dropped while the
// one before it is on its way.
let filtering = 0;
for (const name of ["input", "change"]) {
  document.addEventListener(name, (event) => {
    const form = within(event.target, "form[data-act='filter'], form[data-act='plan']");
    if (!form || (name === "input") !== (event.target.type === "search")) return;
    clearTimeout(filtering);
    filtering = setTimeout(() => send(form.dataset.act, "", fieldsOf(form)), name === "input" ? 200 : 0);
  });
}

// A menu keeps the focus when the grade around it is drawn again.
let chosen = "";
document.addEventListener("change", (event) => {
  const menu = within(event.target, "select[data-act]");
  if (!menu) return;
  chosen = menu.getAttribute("aria-label");
  send(menu.dataset.act, menu.value);
});

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented || !within(event.target, "#practice")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = event.target.closest("form.attempt");
    if (form) form.requestSubmit();
    return;
  }
  // Single keys press only visible buttons, and only where they neither type nor press anything else.
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!plain || event.target.closest("input, textarea, select, summary, button, a")) return;
  const button = [...room().querySelectorAll("button[data-key]")].find((one) => one.dataset.key === event.key);
  if (!button?.offsetParent) return;
  event.preventDefault();
  button.click();
});

document.addEventListener("change", async (event) => {
  const input = within(event.target, "input[data-restore]");
  const file = input?.files[0];
  if (!file) return;
  const packed = await pack(file);
  send("restore", "", packed ? { name: file.name, packed } : { name: file.name });
});

// ---- Whenever the room has changed ----

let shown = ""; // the name of the view, which ends with its number
let begun = Date.now();
const numberOf = (name) => Number(name.split("-")[1] ?? 0);
function refresh() {
  const view = element.querySelector(".view");
  if (!view || view.tagName === shown) return;
  const first = !shown;
  const stale = numberOf(view.tagName) < numberOf(shown);
  shown = view.tagName;
  // It is older than the view that it replaced: it arrived late, such as after a change of language.
  if (stale) return send("show");
  begun = Date.now();
  view.querySelectorAll("textarea[data-keep]").forEach(restoreTyped);
  // A view that replaced the focused element takes the focus.
  if (first || document.activeElement !== document.body) return;
  focusOn(view.querySelector("[data-focus]"));
  room().scrollTop = 0;
}
const focusOn = (target) => target?.focus({ preventScroll: true });
new MutationObserver(refresh).observe(element, { childList: true, subtree: true });
refresh();

function settle() {
  for (const form of element.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
}
// Every response of the server brings a message.
watchOver("practice-told", (told) => {
  settle();
  writePlace(told);
  showHere();
  const answer = told.querySelector("[data-graded]")?.dataset;
  if (answer) forgetTyped(answer.graded, Number(answer.edition));
  if (document.querySelector("#practice-told .problem")) room().scrollTop = 0;
});
watchOver("practice-saved", () => {
  const answer = document.querySelector("#practice-saved [data-saved]")?.dataset;
  if (answer) forgetTyped(answer.saved, Number(answer.edition));
});
let arrived = "";
watchOver("practice-part", (part) => {
  if (chosen && document.activeElement === document.body) {
    focusOn([...part.querySelectorAll("select[data-act]")].find((menu) => menu.getAttribute("aria-label") === chosen));
  }
  const grade = part.querySelector("[data-graded]");
  const moment = grade?.dataset.moment ?? "";
  if (moment === arrived) return;
  arrived = moment;
  if (!grade) return;
  settle();
  const heading = grade.querySelector("[data-arrived]");
  focusOn(heading);
  heading?.scrollIntoView({ block: "start" });
});
function watchOver(id, back) {
  const target = document.getElementById(id);
  if (!target) return;
  new MutationObserver(() => back(target)).observe(target, { childList: true, subtree: true, attributes: true });
}

setInterval(() => {
  const timer = element.querySelector("[data-timer]");
  if (!timer?.offsetParent) return;
  const seconds = Math.floor((Date.now() - begun) / 1000);
  timer.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}, 500);

// Prints what is on the screen: this room, or the conversation.
const page = () => document.getElementById("page");
addEventListener("beforeprint", () => {
  page().toggleAttribute("data-printing-practice", Boolean(element.offsetParent));
});
addEventListener("afterprint", () => page().removeAttribute("data-printing-practice"));
