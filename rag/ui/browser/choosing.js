// ---- Several conversations, to be tagged or deleted at once ----

const column = () => find("#list-column");
const choices = () => all(".conversations .choice input:checked");
function setChoosing(on) {
  column().toggleAttribute("data-choosing", on);
  for (const choice of choices()) choice.checked = false;
  countChoices();
}
function countChoices() {
  for (const button of all("[data-tag-chosen], [data-delete-chosen]")) button.disabled = !choices().length;
  const isTagged = choices().some((choice) => find(".new-tag", choice.closest("li")).defaultValue);
  for (const button of all("[data-untag-chosen]")) button.disabled = !isTagged;
  const button = find("[data-delete-chosen]");
  if (button) button.dataset.count = choices().length || "";
}
document.addEventListener("change", (event) => event.target.closest?.(".choice") && countChoices());
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-choose]")) setChoosing(!column().hasAttribute("data-choosing"));
  if (!event.target.closest?.("[data-delete-chosen]")) return;
  const chosen = choices().map((choice) => choice.value);
  setChoosing(false);
  send({ action: "delete", number: 0, rest: chosen.join(",") });
  for (const number of chosen) localStorage.removeItem(draftOf(number));
});
// A list that is drawn anew may show fewer.
watchOver("#conversations", countChoices);
// While they are chosen a click on a title chooses, too.
document.addEventListener(
  "click",
  (event) => {
    const title = event.target.closest?.("#list-column[data-choosing] .title");
    if (!title) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    find(".choice input", title.closest("li")).click();
  },
  true,
);
