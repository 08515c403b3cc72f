// ---- Asking ----

// A question leaves its box here, at once: whatever is typed after Enter is the next question. It goes to the server with
// the event, and comes back into the box where it was not taken. What was not asked yet is kept by this browser, for each
// conversation and each reader who signs in.
let sent = ""; // the question on its way, until the page shows it
let isReady = false; // a question that is asked before waits: see getReady
let awaited = 0; // what `done` must come to before the page is ready
let waiting = 0;
let begun = 0; // questions that the page has shown
const reader = () => find("#account a")?.title ?? "";
const draftOf = (conversation) => remembered(`draft.${reader()}.${conversation || "new"}`);

function fill(text) {
  box().value = text;
  box().dispatchEvent(new Event("input", { bubbles: true })); // Gradio keeps what is in the box as well
}
function keepDraft() {
  if (!greeted) return; // whose draft it is, is not known yet
  const text = [sent, box()?.value].filter(Boolean).join("\n");
  if (text) localStorage.setItem(draftOf(open()), text);
  else localStorage.removeItem(draftOf(open()));
}
// What was typed before the page knew its conversation stays.
let restored = false;
function restoreDraft() {
  if (restored || !(box().value || sent)) fill(localStorage.getItem(draftOf(open())) ?? "");
  else keepDraft();
  restored = true;
}
// What is being written in a conversation that is left keeps no question from being asked in the next one.
const isBusy = () => Boolean(sent || (isReady && find("#stop")?.offsetParent));

function askQuestion() {
  const text = box().value;
  find("#strip").toggleAttribute("data-busy", isBusy() && Boolean(text.trim()));
  if (isBusy()) return;
  if (!text.trim() || [...text.trim()].length > MAX_QUESTION) {
    if (isReady) send({ action: "send", number: 0, rest: text }); // the server says why it cannot be asked
    return;
  }
  sent = text;
  fill("");
  if (isReady) sendQuestion();
  else setWaiting(text);
}
function sendQuestion() {
  setWaiting("");
  send({ action: "send", number: 0, rest: sent });
}
// A question that waits until a document is read stands below what is said of it.
function setWaiting(text) {
  const place = find("#attached");
  if (text && find("progress", place ?? tip)) place.dataset.waiting = text;
  else if (place) delete place.dataset.waiting;
}

// The server has greeted, so that it knows who asks and what they chose, and the conversation of this tab is open. What it
// answers before that would not be kept, and be overwritten by the greeting, which brings the page as it was.
function getReady() {
  if (isReady || done < awaited) return;
  isReady = true;
  clearTimeout(waiting);
  if (sent) sendQuestion();
}
// A question must not overtake the step to another conversation: it would be asked in the one before, or be overwritten
// by what the step brings.
function awaitStep() {
  if (isReady && sent) return; // it is on its way already
  isReady = false;
  awaited = Math.max(awaited, done) + 1;
  clearTimeout(waiting);
  waiting = setTimeout(notTaken, PATIENCE);
}
function taken() {
  sent = "";
  if (open() !== shownConversation) localStorage.removeItem(draftOf(shownConversation)); // it has begun a conversation
  keepDraft();
}
function notTaken() {
  isReady ||= greeted; // its conversation cannot be opened
  awaited = 0;
  setWaiting("");
  if (!sent) return;
  const text = [sent, box().value].filter(Boolean).join("\n");
  sent = "";
  fill(text);
}

// Enter that confirms a word of an input method sends nothing.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Enter") return;
    const composing = event.isComposing || event.keyCode === 229;
    if (composing) event.stopPropagation();
    if (composing || event.shiftKey || event.target !== box()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    askQuestion();
  },
  true,
);
document.addEventListener("click", (event) => event.target.closest?.("#send") && askQuestion());
document.addEventListener("click", (event) => event.target.closest?.("#clear") && awaitStep(), true); // sent by Gradio
// An example is sent by Gradio itself, as soon as it is clicked.
document.addEventListener(
  "click",
  (event) => {
    const example = event.target.closest?.("#chat .examples button");
    if (isReady || !example) return;
    event.stopImmediatePropagation();
    sent ||= example.textContent.trim();
  },
  true,
);
document.addEventListener("input", (event) => event.target === box() && keepDraft());
addEventListener("pagehide", keepDraft);
