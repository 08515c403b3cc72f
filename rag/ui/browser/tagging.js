// ---- Tags ----

const setTag = (number, item) => writeIn(find(".new-tag", item), (tag) => send({ action: "tag", number, note: tag }));

// The same tag for all that were chosen, or none.
function tagChosen(tag) {
  const chosen = choices().map((choice) => choice.value);
  setChoosing(false);
  send({ action: "tag", number: 0, rest: chosen.join(","), note: tag });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-tag-chosen], [data-untag-chosen]");
  if (!button) return;
  if (button.matches("[data-untag-chosen]")) tagChosen("");
  else writeIn(find(".new-tag", button.parentElement), tagChosen);
});

// The list is drawn anew when it is filtered by a tag: the tag keeps the focus, to be clicked once more.
let filtered = null;
document.addEventListener("click", (event) => {
  filtered = event.target.closest?.(".conversations .tags button")?.dataset.rest ?? null;
});
watchOver("#conversations", (list) => {
  if (filtered === null || document.activeElement !== document.body) return;
  all(".tags button", list).find((button) => button.dataset.rest === filtered)?.focus({ preventScroll: true });
});
