// ---- An answer read aloud, by a voice of this device: one that comes from elsewhere would be sent the text ----

const speech = window.speechSynthesis;
let aloud = null; // the button of the answer that is being read
let readConversation = 0;

const voicesHere = () => (speech?.getVoices() ?? []).filter((voice) => voice.localService);
const findVoices = () => document.documentElement.toggleAttribute("data-aloud", voicesHere().length > 0);
findVoices();
speech?.addEventListener?.("voiceschanged", findVoices);

// What is said of an answer: no numbers of sources, no code, no formulas on lines of their own.
const SILENT = ".after, .lead, a[href^='#cite-'], pre, .katex-display, .katex-mathml, button, style";
function spoken(message) {
  const copy = message.cloneNode(true);
  for (const part of all(SILENT, copy)) part.remove();
  for (const part of all("p, li, h1, h2, h3, h4, h5, td, th, br", copy)) part.append("\n");
  return copy.textContent;
}
// In sentences: some browsers stop in the middle of a long text.
const sentences = (text) =>
  (text.match(/[^。！？!?\n]+[。！？!?]*/g) ?? [])
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));

function readAloud(button) {
  if (aloud === button) return stopReading();
  stopReading();
  const message = find(".message", button.closest(".bot-row"));
  const said = message ? sentences(spoken(message)) : [];
  if (!said.length) return;
  aloud = button;
  readConversation = open();
  mark(true);
  for (const [place, sentence] of said.entries()) {
    const utterance = new SpeechSynthesisUtterance(sentence);
    utterance.lang = /\p{Script=Han}/u.test(sentence) ? "zh-CN" : "en-US";
    const voices = voicesHere();
    utterance.voice = voices.find((voice) => voice.lang.slice(0, 2) === utterance.lang.slice(0, 2)) ?? voices[0];
    const isLast = place === said.length - 1;
    utterance.onend = utterance.onerror = () => isLast && aloud === button && stopReading();
    speech.speak(utterance);
  }
}
function stopReading() {
  if (!aloud) return;
  mark(false);
  aloud = null;
  speech.cancel();
}
function mark(on) {
  aloud.classList.toggle("on", on);
  aloud.setAttribute("aria-pressed", on);
}
// It stops where its answer goes: another conversation, a page that is left. The server draws the button anew.
watchOver("#chat", () => {
  if (!aloud || aloud.isConnected) return;
  const again = find(`#chat .${[...aloud.classList].find((name) => name.startsWith("do-aloud-"))}`);
  const isSame = open() === readConversation && again;
  if (!isSame) return stopReading();
  aloud = again;
  mark(true);
});
addEventListener("pagehide", stopReading);
