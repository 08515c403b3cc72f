// ---- Copying, and files to save ----

// Gradio's own button, which the style sheet hides, takes the Markdown that we sent; give the reader what was answered.
function copy(button) {
  const rows = all("#chat .bot-row");
  all("#chat .message-buttons-left button")[rows.indexOf(button.closest(".bot-row"))]?.click();
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1500);
}
// Over plain HTTP from another machine a browser has no clipboard to write to; what is selected can be copied all the same.
async function writeSelected(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.cssText = "position: fixed; opacity: 0";
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  focused?.focus?.();
}
const write = navigator.clipboard?.writeText.bind(navigator.clipboard) ?? writeSelected;
if (!navigator.clipboard) Object.defineProperty(navigator, "clipboard", { value: {} });
navigator.clipboard.writeText = (text) => write(asAnswered(text));
// What has been done, where nothing else on the page shows it.
const note = document.createElement("div");
note.id = "done-note";
note.setAttribute("role", "status");
document.body.append(note);
let noted = 0;
function tellDone(text) {
  note.textContent = text;
  clearTimeout(noted);
  noted = setTimeout(() => (note.textContent = ""), 5000);
}
const copyLink = (number, told) =>
  write(new URL(`#conversation-${number}`, location.href).href).then(() => tellDone(told));

// A conversation is shown, with all that was left out of it, before it is printed or shared.
let isFetched = false; // what is left out of it was asked for
let whenShown = null;
function showWhole(number, work) {
  whenShown = { number, work };
  if (open() !== number) location.hash = `#conversation-${number}`;
  else if (room !== CHAT) openRoom(CHAT);
  workOnWhole();
}
function workOnWhole() {
  if (!whenShown || open() !== whenShown.number || !find(`#chat .of-${open()}`)) return;
  const isWhole = !Number(panel().dataset.earlier);
  if (!isWhole && !isFetched) send({ action: "earlier", number: 0, rest: "all" });
  isFetched = !isWhole;
  if (!isWhole) return;
  setTimeout(whenShown.work, 600); // formulas and code are drawn a little later
  whenShown = null;
}
watchOver("#chat", workOnWhole);

// What was answered, and below it the sources that its numbers stand for.
function asAnswered(text) {
  const below = text.lastIndexOf('<div class="after">');
  if (below < 0) return asText(text);
  const after = new DOMParser().parseFromString(text.slice(below), "text/html");
  const cited = all(".cited p", after).map((line) => line.textContent);
  return [asText(text.slice(0, below)), cited.join("\n")].filter(Boolean).join("\n\n");
}
function asText(text) {
  return text
    .replace(/^<div class="lead">.*?<\/div>\s*/, "")
    .replace(/\[(\d+(?:–\d+)?)\]\(#cite-[\d-]+ "[^"]*"\)/g, "[$1]")
    .replace(/<span class="(?:unsupported" title="[^"]*|claim cite-\d+-\d+)">(.*?)<\/span>/g, "$1")
    .replace(/[\ue004\ue005]/g, "$$")
    .replace(/[\ue002\ue003]/g, "$$$$")
    .replaceAll("&lt;", "<")
    .trimEnd();
}

watchOver("#parcel", () => {
  const parcel = find("#parcel [data-parcel]:not([data-taken])");
  if (!parcel) return;
  parcel.dataset.taken = "";
  save(JSON.parse(parcel.dataset.parcel));
});
function save(file) {
  const link = document.createElement("a");
  const bytes = file.base64 && Uint8Array.from(atob(file.base64), (sign) => sign.charCodeAt(0));
  const type = bytes ? file.type : `${file.type};charset=utf-8`;
  link.href = URL.createObjectURL(new Blob([bytes || file.text], { type }));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
