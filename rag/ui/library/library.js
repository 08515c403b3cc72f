// The list of documents: its buttons, and those of the message above it, tell the server which document is meant. The
// confirmation of a removal closes once it is answered.
document.addEventListener("click", (event) => {
  const button = element.isConnected && event.target.closest?.(":is(#library-list, #library-told) button");
  if (!button) return;
  const asked = button.closest("details.sure");
  if (asked) asked.open = false;
  if (button.matches("[data-keep]")) asked.querySelector("summary").focus();
  if (button.dataset.action) trigger("select", { action: button.dataset.action, name: button.dataset.name ?? "" });
});

// A file that the server would refuse for its size is not sent; Gradio would say so in English.
const refuse = (event) => {
  if (!element.isConnected || !event.target.closest?.("#library-files")) return;
  const limit = 1024 * 1024 * Number(document.querySelector("#room-library [data-megabytes]")?.dataset.megabytes);
  const large = [...((event.dataTransfer ?? event.target).files ?? [])].find((file) => file.size > limit);
  if (!large) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.type === "change") event.target.value = "";
  trigger("submit", { name: large.name, size: large.size });
};
document.addEventListener("change", refuse, true);
document.addEventListener("drop", refuse, true);
