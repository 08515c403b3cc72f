// ---- The address of a conversation ----

// The conversation that is shown stands in the address: it can be opened again, and Back leads to the one before it.
const ADDRESS = /^#conversation-(\d+)$/;
const ROOM = /^#room-\w+$/;
const addressed = () => Number(ADDRESS.exec(location.hash)?.[1] ?? 0);
let wanted = null; // the conversation that the address asks for, until the server has answered
let requested = null; // the one that the server was asked for: one at a time, so that answers come in order
let left = 0; // the one that was shown then
let overdue = 0;
const PATIENCE = 15_000; // milliseconds

function follow() {
  if (ROOM.test(location.hash)) openRoom(location.hash);
  if (!greeted || (location.hash && !addressed())) return;
  wanted = addressed();
  request();
}
addEventListener("popstate", follow);

function request() {
  if (requested !== null) return;
  if (wanted === open()) wanted = null;
  if (wanted === null) return;
  requested = wanted;
  left = open();
  overdue = setTimeout(giveUp, PATIENCE);
  send({ action: wanted ? "open" : "new", number: wanted, rest: "" });
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
  if (!greeted || wanted !== null || open() === addressed()) return;
  const address = open() ? `#conversation-${open()}` : location.pathname + location.search;
  if (isFirst || isMissing) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
}
