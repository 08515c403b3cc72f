// The address of the practice room. Runs after practice.js, as one script with it, and uses what that defines.

// Where the reader is stands in the address behind the name of the room: a reload comes back to it, and Back leads to where
// they were before. The bank stays one place while it is filtered.
const ROOM = "#room-practice";
const viewOf = (place) => place.split("?")[0];
let isLed = true; // what is told next is of the place that the address asked for
let toldLast = "";
function writePlace(told) {
  const at = told.querySelector("[data-place]")?.dataset;
  const [name, ...rest] = location.hash.split("/");
  const here = rest.join("/");
  if (!at || at.moment === toldLast || name !== ROOM || Number(at.renders) < numberOf(shown)) return;
  toldLast = at.moment;
  const isSame = isLed || !here || (viewOf(here) === "bank" && viewOf(at.place) === "bank");
  const { top: wasAt, ...state } = history.state ?? {};
  if (isLed && wasAt) requestAnimationFrame(() => (room().scrollTop = wasAt));
  isLed = false;
  if (here === at.place) return;
  if (!isSame) writeTop(top);
  history[isSame ? "replaceState" : "pushState"](state, "", `${ROOM}/${at.place}`);
}
// Of more views than fit on a phone the one that is open is in sight.
function showHere() {
  const here = document.querySelector("#practice-navigation [aria-current]");
  const row = here?.closest("ul");
  if (!row || row.scrollWidth <= row.clientWidth) return;
  const from = here.getBoundingClientRect().left - row.getBoundingClientRect().left;
  row.scrollLeft += from - (row.clientWidth - here.offsetWidth) / 2;
}
const writeTop = (top) => history.replaceState({ ...history.state, top }, "");
addEventListener("place", () => {
  if (!element.isConnected || !location.hash.startsWith(ROOM)) return;
  isLed = true;
  flush();
  send("place", location.hash.slice(ROOM.length + 1));
});
addEventListener("pagehide", () => {
  if (element.isConnected && location.hash.startsWith(ROOM) && element.offsetParent) writeTop(room().scrollTop);
});
