// ---- The list of keys, and the way past what stands on every page ----

const shortcuts = () => find("dialog.shortcuts");
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-shortcuts]")) shortcuts().showModal();
  // its button, or beside what it says
  if (event.target === shortcuts() || event.target.closest?.("dialog.shortcuts .done")) shortcuts().close();
});
document.addEventListener("keydown", (event) => {
  const types = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key !== "?" || event.defaultPrevented || types || shortcuts()?.open) return;
  event.preventDefault();
  shortcuts()?.showModal();
});

// To the question in the chat, elsewhere to the heading of the room. The address stays: it is that of a conversation.
document.addEventListener(
  "click",
  (event) => {
    if (!event.target.closest?.("a.skip")) return;
    event.preventDefault();
    event.stopPropagation();
    const room = all("#rooms > .tabitem").find((one) => one.offsetParent);
    const target = room?.id === "room-chat" ? box() : all("h2", room).find((one) => one.offsetParent);
    if (target !== box()) target?.setAttribute("tabindex", "-1");
    target?.focus();
  },
  true,
);
