// What the list of documents does by itself: its buttons tell the server which document is meant.
element.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-action]");
  if (button) trigger("select", { action: button.dataset.action, name: button.dataset.name ?? "" });
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
