// What the list of documents does by itself: its buttons tell the server which document is meant.
element.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-action]");
  if (button) trigger("select", { action: button.dataset.action, name: button.dataset.name ?? "" });
});
