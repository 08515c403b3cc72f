// ---- Documents into the chat: dropped, pasted, or chosen with the paperclip ----

// All of them go the way of the paperclip, which is not there for who may add nothing.
const paperclip = () => find("#attach");
const fileInput = () => find("#ask input[type=file]");
const hasFiles = (event) => Boolean(fileInput() && event.dataTransfer?.types.includes("Files"));

// What the server would refuse for its size, a file or all of them together, is not sent; Gradio would say so in English.
function isTooLarge(files) {
  const limit = 1024 * 1024 * Number(find("#attached [data-megabytes]")?.dataset.megabytes);
  const bySize = [...files].sort((one, other) => other.size - one.size);
  const large = bySize.reduce((sum, file) => sum + file.size, 0) > limit && bySize[0];
  if (large) send({ action: "large", number: large.size, rest: large.name });
  return Boolean(large);
}
function attach(files) {
  const carried = new DataTransfer();
  for (const file of files) carried.items.add(file);
  const input = fileInput();
  input.files = carried.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}
document.addEventListener(
  "change",
  (event) => {
    if (event.target !== fileInput() || !event.target.files.length) return;
    if (!isTooLarge(event.target.files)) return awaitStep(); // what is asked now is asked about it
    event.stopImmediatePropagation();
    event.target.value = "";
  },
  true,
);

function setDropping(dropping) {
  const column = find("#chat-column");
  if (dropping) column.dataset.drop = find("#attached [data-drop]")?.dataset.drop ?? "";
  else delete column.dataset.drop;
}
document.addEventListener("dragover", (event) => {
  if (!hasFiles(event) || !event.target.closest?.("#chat-column")) return setDropping(false);
  event.preventDefault();
  setDropping(true);
});
document.addEventListener("dragleave", (event) => event.relatedTarget || setDropping(false));
document.addEventListener("drop", (event) => {
  setDropping(false);
  if (!hasFiles(event) || !event.target.closest?.("#chat-column")) return;
  event.preventDefault();
  attach(event.dataTransfer.files);
});
document.addEventListener("paste", (event) => {
  if (!fileInput() || event.target !== box() || !event.clipboardData?.files.length) return;
  if (event.clipboardData.types.includes("text/plain")) return; // a table's cells come with their picture
  event.preventDefault();
  attach(event.clipboardData.files);
});
watchOver("#attach", (button) => (button.title = button.textContent.trim()));
