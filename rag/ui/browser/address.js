// ---- The address: the room and the conversation ----

// Where the reader is stands in the address: it can be opened again, and Back leads to where they were before. Beside a
// room the conversation that is open is kept with the address; that of a search names the question in which it found
// something, too. What follows the name of a room is the room's own: where the reader is in it.
const ADDRESS = /^#conversation-(\d+)(?:-(\d+))?$/;
const ROOM = /^#room-\w+(?=\/|$)/;
const CHAT = "#room-chat";
const addressed = () =>
  ROOM.test(location.hash)
    ? (history.state?.conversation ?? open())
    : Number(ADDRESS.exec(location.hash)?.[1] ?? 0);
const leadsSomewhere = () => !location.hash || ROOM.test(location.hash) || Boolean(addressed());
let room = CHAT; // the one that is shown
let opening = null; // the one that is being opened
let hit = 0; // the question that was found
let wanted = null; // the conversation that the address asks for, until the server has answered
let requested = null; // the one that the server was asked for: one at a time, so that answers come in order
let left = 0; // the one that was shown then
let overdue = 0;
const PATIENCE = 15_000; // milliseconds

function follow() {
  const { hash } = location;
  const isRoom = ROOM.test(hash);
  const name = isRoom ? ROOM.exec(hash)[0] : CHAT;
  if (!greeted || !leadsSomewhere()) return;
  wanted = addressed(); // before the room is opened, which would write the address
  if (isRoom && name === room) dispatchEvent(new Event("place")); // a room that is opened looks by itself
  hit = Number(ADDRESS.exec(hash)?.[2] ?? 0);
  openRoom(name);
  openConversation();
}
addEventListener("popstate", follow);
// A page that has just greeted goes where its address says, unless its reader is in another room by now; the
// conversation is opened all the same.
function followFirst() {
  if (room === CHAT) return follow();
  if (!leadsSomewhere()) return;
  wanted = addressed();
  openConversation();
  writeAddress(false);
}
function openConversation() {
  if (hit && wanted === open()) send({ action: "open", number: wanted, rest: String(hit) });
  request();
}

function request() {
  if (requested !== null) return;
  if (wanted === open()) wanted = null;
  if (wanted === null) return;
  requested = wanted;
  left = open();
  overdue = setTimeout(giveUp, PATIENCE);
  send({ action: wanted ? "open" : "new", number: wanted, rest: hit ? String(hit) : "" });
}
// Without an answer the address goes back to what is shown, unless it asks for something else by now.
function giveUp() {
  const isLost = wanted === requested;
  if (isLost) wanted = null;
  requested = null;
  if (isLost) writeAddress(true);
  else request();
}

// `isFirst` tells that the question just asked has begun the conversation: Back does not lead to what was empty.
function writeAddress(isFirst) {
  const missing = Number(panel().dataset.missing);
  const isMissing = Boolean(wanted) && missing === wanted;
  if (requested !== null) {
    const isAnswered = requested === open() || (requested && requested === missing);
    if (!isAnswered && open() === left) return;
    // Neither what was requested nor what was left: the reader went somewhere else in the meantime.
    if (isMissing || (!isAnswered && wanted === requested)) wanted = null;
    clearTimeout(overdue);
    requested = null;
    request();
  }
  if (!greeted || wanted !== null || opening) return;
  const isRoom = room !== CHAT;
  const isThere = isRoom ? ROOM.exec(location.hash)?.[0] === room : !ROOM.test(location.hash);
  if (isThere && open() === addressed()) return;
  const conversation = open() ? `#conversation-${open()}` : location.pathname + location.search;
  const write = isFirst || isMissing || (isRoom && isThere) ? "replaceState" : "pushState";
  const there = isThere ? location.hash : room;
  history[write]({ conversation: open() }, "", isRoom ? there : conversation);
}

// Some rooms lie under the settings, whose tabs come into the page when the settings are opened.
const UNDER_SETTINGS = ["#room-preferences", "#room-inspector", "#room-quality", "#room-feedback"];
function openRoom(name, tries = 60) {
  if (name === room) return;
  opening = tries ? name : null;
  if (UNDER_SETTINGS.includes(name) && !find("#settings-rooms")?.offsetParent) find("#room-settings-button")?.click();
  const button = find(`${name}-button`);
  if (button?.offsetParent) {
    button.click();
    requestAnimationFrame(() => find("#room-settings")?.scrollTo(0, 0)); // the browser goes to what bears the name
  } else if (tries) requestAnimationFrame(() => openRoom(name, tries - 1));
}
document.addEventListener("click", (event) => {
  let tab = event.target.closest?.("#page [role=tab][id^=room-]");
  if (!tab) return;
  if (tab.id === "room-settings-button") tab = find("#settings-rooms [role=tab].selected") ?? tab;
  const name = `#${tab.id.replace(/-button$/, "")}`;
  if (opening && opening !== name && UNDER_SETTINGS.includes(opening)) return; // on the way there
  opening = null;
  room = name;
  writeAddress(false);
});
