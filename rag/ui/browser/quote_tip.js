// ---- The quote of a marker, while it is pointed at or has the focus ----

const tip = document.createElement("div");
tip.id = "quote-tip";
tip.className = "readable";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);
const marker = (target) => {
  const link = target.closest?.('#chat a[href^="#cite-"]');
  return link && !link.getAttribute("href").endsWith("-0") ? link : null;
};
// The quote comes as words, with its formulas as they are written.
const FORMULA = /(\$\$?[^$]+\$\$?)/;
const escaped = (text) => text.replace(/[&<>]/g, (sign) => `&#${sign.codePointAt(0)};`);
const asDrawn = (quote) =>
  quote
    .split(FORMULA)
    .map((part, place) => (place % 2 ? `<span class="formula">${escaped(part)}</span>` : escaped(part)))
    .join("");
function showTip(link) {
  if (link.title) {
    link.dataset.quote = link.title;
    link.removeAttribute("title"); // the browser would show it a second time
  }
  if (!link.dataset.quote) return;
  tip.innerHTML = asDrawn(link.dataset.quote);
  tip.hidden = false;
  link.setAttribute("aria-describedby", tip.id);
  placeTip(link);
  draw(tip).then(() => placeTip(link)); // formulas change how large it is
}
function placeTip(link) {
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
