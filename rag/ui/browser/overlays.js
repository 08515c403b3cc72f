// ---- What lies over the page: the sheet of sources, the drawer of conversations, a whole source ----

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

// A tap outside of the sheet closes it and does nothing else; a marker picks out another quote.
const BESIDE_SHEET = "#sources, #whole, #quote-tip, .toast-wrap, a[href^='#cite-']";
document.addEventListener(
  "click",
  (event) => {
    const isSheet = find("#sources")?.hasAttribute("data-open") && matchMedia("(max-width: 860px)").matches;
    if (!isSheet || event.target.closest?.(BESIDE_SHEET)) return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(false);
  },
  true,
);

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
// Every opening is asked of the server anew, and has a moment of its own: what stood here may be of another
// conversation, or of an index that is no longer the live one.
let shownMoment = "";
watchOver("#whole", () => {
  const shown = find(".whole");
  if (!shown || shown.dataset.moment === shownMoment) return;
  shownMoment = shown.dataset.moment;
  setWhole(true);
  show(shown, find(".body", shown), alone(shown.dataset.selected));
});

// A drawer that the keyboard has left would lie over what has the focus.
document.addEventListener("focusin", (event) => {
  if (drawer()?.hasAttribute("data-open") && !drawer().contains(event.target)) setDrawer(false);
});
