// ---- Search in the conversations: Ctrl+K from everywhere ----

const searchBox = () => find("#sought input, #sought textarea");
const isDrawer = () => Boolean(find(".drawer")?.offsetParent);
let searchedFrom = null; // what had the focus before

function openSearch() {
  if (isWholeOpen()) setWhole(false);
  if (document.activeElement !== searchBox()) searchedFrom = document.activeElement;
  if (!find("#columns")?.offsetParent) openRoom("#room-chat");
  focusSearch(20);
}
// Another room gives way to the chat a few frames later.
function focusSearch(tries) {
  if (!find("#columns")?.offsetParent && tries) return requestAnimationFrame(() => focusSearch(tries - 1));
  if (isDrawer()) setDrawer(true);
  searchBox().focus();
  searchBox().select();
}
function endSearch() {
  if (searchBox().value) {
    searchBox().value = "";
    searchBox().dispatchEvent(new Event("input", { bubbles: true }));
  }
  setDrawer(false);
  const back = searchedFrom?.isConnected && searchedFrom.offsetParent ? searchedFrom : box();
  searchedFrom = null;
  back.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  const found = all(".conversations .title");
  const at = event.target === searchBox() ? -1 : found.indexOf(event.target);
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openSearch();
  } else if (event.target === searchBox() && event.key === "Escape") {
    event.preventDefault(); // keys.js would stop an answer
    endSearch();
  } else if (event.target === searchBox() && event.key === "Enter" && searchBox().value.trim()) {
    event.preventDefault();
    found[0]?.click();
  } else if ((event.target === searchBox() || at >= 0) && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    const to = at + (event.key === "ArrowDown" ? 1 : -1);
    (to < 0 ? searchBox() : (found[to] ?? found.at(-1)))?.focus();
  }
});
document.addEventListener("click", (event) => event.target.closest?.("#find button") && openSearch());
