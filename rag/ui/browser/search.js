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

// The words that were sought are marked in the question and the answer in which they were found; where the first of them
// stands on the screen, with room for what comes before it.
function markFound(asked) {
  const words = searchBox().value.toLowerCase().split(/\s+/).filter(Boolean);
  const ranges = [];
  const rows = all("#chat .message-row");
  const at = rows.indexOf(asked);
  for (const row of rows.slice(at, at + 2)) {
    const texts = document.createTreeWalker(find(".message", row) ?? row, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const said = texts.currentNode.data.toLowerCase();
      for (const word of texts.currentNode.parentElement.closest(".after") ? [] : words) {
        for (let at = said.indexOf(word); at >= 0; at = said.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(texts.currentNode, at);
          range.setEnd(texts.currentNode, at + word.length);
          ranges.push(range);
        }
      }
    }
  }
  globalThis.CSS?.highlights?.set("sought", new Highlight(...ranges));
  const first = ranges[0]?.getBoundingClientRect();
  return first && first.top - 90;
}
