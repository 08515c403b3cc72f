// ---- The address of a conversation ----

// The conversation that is shown stands in the address: it can be opened again, and Back leads to the one before it.
const ADDRESS = /^#conversation-(\d+)$/;
const ROOM = /^#room-\w+$/;
const addressed = () => Number(ADDRESS.exec(location.hash)?.[1] ?? 0);
let wanted = null; // the conversation that the address asks for, until the server has answered

function follow() {
  if (ROOM.test(location.hash)) openRoom(location.hash);
  if (!greeted || (location.hash && !addressed())) return;
  wanted = addressed();
  if (wanted === open()) wanted = null;
  else send({ action: wanted ? "open" : "new", number: wanted, rest: "" });
}
addEventListener("popstate", follow);

// `isFirst` tells that the question just asked has begun the conversation: Back does not lead to what was empty.
function writeAddress(isFirst) {
  const isMissing = Boolean(wanted) && Number(panel().dataset.missing) === wanted;
  if (wanted === open() || isMissing) wanted = null;
  if (!greeted || wanted !== null || open() === addressed()) return;
  const address = open() ? `#conversation-${open()}` : location.pathname + location.search;
  if (isFirst || isMissing) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
}
