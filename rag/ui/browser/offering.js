// ---- A document or a topic, named in the box ----

// What follows a # or an @ before the caret names what the question shall be asked of; the server offers what it could be.
const NAMING = /(?:^|\s)[#＃@]([^\s#＃@]{0,40})$/;
const offers = () => find("#offers");
const offered = () => (offers()?.hasAttribute("data-open") ? all("[role=option]", offers()) : []);
const naming = () => NAMING.exec(box()?.value.slice(0, box().selectionStart) ?? "");
let offering = 0;

function offer() {
  clearTimeout(offering);
  const named = naming();
  if (!named) return endOffer();
  if (named[1] === find("[data-words]", offers())?.dataset.words) return openOffer();
  offering = setTimeout(() => send({ action: "offer", number: 0, rest: named[1] }), 120);
}
function openOffer() {
  const list = find("[data-words]", offers());
  if (!list || document.activeElement !== box() || naming()?.[1] !== list.dataset.words) return;
  if (!find("button", list)) return endOffer();
  offers().setAttribute("data-open", "");
  pointToOffer(0);
}
function endOffer() {
  clearTimeout(offering);
  offers()?.removeAttribute("data-open");
  box()?.removeAttribute("aria-activedescendant");
}
function pointToOffer(place) {
  const options = offered();
  const to = options.at(place % options.length);
  for (const option of options) option.setAttribute("aria-selected", String(option === to));
  to?.scrollIntoView({ block: "nearest" });
  if (to) box().setAttribute("aria-activedescendant", to.id);
}
// The name gives way to the chip of what was chosen.
function takeName() {
  const named = naming();
  if (!named) return;
  const end = box().selectionStart;
  const start = end - named[1].length - 1;
  fill(box().value.slice(0, start) + box().value.slice(end));
  box().setSelectionRange(start, start);
  keepDraft();
}
watchOver("#offers", openOffer);
for (const name of ["input", "compositionend"]) {
  document.addEventListener(name, (event) => event.target === box() && !event.isComposing && offer());
}
document.addEventListener(
  "keydown",
  (event) => {
    const options = event.target === box() && !event.isComposing ? offered() : [];
    const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
    const deeds = {
      ArrowDown: () => pointToOffer(at + 1),
      ArrowUp: () => pointToOffer(at - 1),
      Enter: () => options[at]?.click(),
      Tab: () => options[at]?.click(),
      Escape: endOffer,
    };
    if (!options.length || event.shiftKey || !deeds[event.key]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    deeds[event.key]();
  },
  true,
);
// Before the click is sent: what was typed is gone by then. A press outside closes the list; the box keeps the focus.
document.addEventListener("pointerdown", (event) => event.target.closest?.("#offers") && event.preventDefault());
document.addEventListener(
  "click",
  (event) => {
    if (event.target.closest?.("#offers button")) takeName();
    if (event.target !== box()) endOffer();
  },
  true,
);
