// ---- Whenever the page has changed ----

// Gradio names a message by all of its Markdown; what stands in it tells more.
watchOver("#chat", (chat) => {
  for (const message of all("[data-testid][aria-label]", chat)) message.removeAttribute("aria-label");
});

// A new question goes to the top of the view, so that its answer is read from the beginning. There is nothing below to
// scroll into until the answer has come; a reader who scrolls is left alone.
let bringing = false;
let settled = 0;
function bringUp() {
  bringing = true;
  clearTimeout(settled);
  requestAnimationFrame(place);
}
function place() {
  const view = find("#chat .bubble-wrap");
  if (fromEnd !== null && view) view.scrollTop = view.scrollHeight - fromEnd;
  const found = hit ? find(`#chat .do-edit-${hit}`)?.closest(".user-row") : null;
  const asked = found || all("#chat .message-row.user-row").at(-1);
  if (!bringing || !asked || !view) return;
  const top = (found ? markFound(found) : null) ?? asked.getBoundingClientRect().top - 12;
  view.scrollTop += top - view.getBoundingClientRect().top;
  clearTimeout(settled);
  settled = setTimeout(() => (bringing = isBusy()), 600); // fonts, formulas and code are drawn a little later
}
watchOver("#chat", () => requestAnimationFrame(place));
watchOver("#chat", countWaiting);
for (const name of ["wheel", "touchmove", "pointerdown", "keydown"]) {
  document.addEventListener(
    name,
    (event) => {
      if (!event.target.closest?.("#chat")) return;
      clearTimeout(settled);
      bringing = false;
      fromEnd = null;
    },
    { passive: true },
  );
}
// Earlier questions come in above what is read, which stays where it is.
let fromEnd = null;
function keepPlace() {
  const view = find("#chat .bubble-wrap");
  fromEnd = view.scrollHeight - view.scrollTop;
  setTimeout(() => (fromEnd = null), 2_000);
}

let shownConversation = 0;
let broughtHit = 0;
let lookedOn = ""; // the answer written for another tab that this one has asked to see grow
let greeted = false;
let done = 0;
let isStale = false;
function refresh() {
  const current = panel();
  if (!current) return;
  // Gradio sends the end of an answer twice. The second time must not undo what the reader has done in between; nor may
  // what comes late undo a question that was asked in between. A server that has started anew counts from zero.
  isStale = !isStale && (Number(current.dataset.done) < done || Number(current.dataset.begun) < begun);
  if (isStale) return send({ action: "show", number: 0, rest: "" });
  done = Number(current.dataset.done);
  const turn = Number(current.dataset.turn);
  document.documentElement.lang = current.dataset.language;
  const says = `${open()}/${turn}/${current.dataset.selected}`;
  choose(turn, says === said ? chosen : alone(current.dataset.selected));
  said = says;
  const isNew = Number(current.dataset.begun) > begun;
  if (isNew) hit = 0;
  if (isNew) taken();
  if (turn && (isNew || open() !== shownConversation || (hit && hit !== broughtHit))) bringUp();
  broughtHit = hit;
  begun = Number(current.dataset.begun);
  const isAnother = open() !== shownConversation;
  writeAddress(isNew && !shownConversation);
  shownConversation = open();
  if (isAnother && !isNew) restoreDraft();
  workOnWhole();
  const { written } = current.dataset;
  const growing = Number(written) ? `${open()}/${written}` : "";
  if (growing && growing !== lookedOn) send({ action: "lookon", number: Number(written), rest: "" });
  lookedOn = growing || lookedOn;
  if (greeted) getReady(); // what has been done is that the conversation was opened
}

// Gradio calls the examples a list, of buttons, which a list may not have.
new MutationObserver(() => {
  for (const list of document.querySelectorAll("#chat .examples[role=list]")) list.setAttribute("role", "group");
}).observe(document.getElementById("chat-column"), { childList: true, subtree: true });

// What is read in the library and in the practice room has formulas, too, and so have questions and what a search found.
for (const place of ["#chat", "#conversations", "#library-list", "#practice-view", "#practice-part"]) watchOver(place, (list) => draw(list));

watch("value", refresh);
refresh();
// The page has greeted when the list of conversations is there. The tab is called what its conversation is called.
watchOver("#conversations", (list) => {
  const title = find("li[aria-current] .title", list)?.title;
  document.title = [title, find("#title h1")?.textContent].filter(Boolean).join(" · ");
  if (greeted || !find(".conversations", list)) return;
  greeted = true;
  find("#page").dataset.greeted = "";
  if (location.hash) followFirst();
  if (!addressed()) restoreDraft();
  getReady();
});
