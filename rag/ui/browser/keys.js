// ---- Keys ----

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  if (event.key === "Escape") escape();
  if (event.key === "ArrowUp" && event.target === box() && box().value === "") {
    const last = all("#chat button.edit").at(-1);
    if (last) {
      event.preventDefault();
      act(deed(last), last);
    }
  }
  if (event.key === "Tab" && isWholeOpen()) keepFocus(event);
});

// Esc closes what lies on top; where nothing does, it stops the answer that is being written.
function escape() {
  const menu = find("details.menu[open]");
  if (!tip.hidden) hideTip();
  else if (menu) menu.open = false;
  else if (isWholeOpen()) setWhole(false);
  else if (find("#list-column[data-open]")) setDrawer(false);
  else if (find("#stop")?.offsetParent) find("#stop").click();
  else if (aloud) stopReading();
  else if (find("#strip .do-unedit-0")) send({ action: "unedit", number: 0, rest: "" });
  else if (find("#strip .do-unjudge-0")) send({ action: "unjudge", number: 0, rest: "" });
  else setOpen(false);
}

function keepFocus(event) {
  const stops = all("button, [tabindex='0']", whole()).filter((stop) => stop.offsetParent);
  const at = stops.indexOf(document.activeElement) + (event.shiftKey ? -1 : 1);
  event.preventDefault();
  stops.at(at < stops.length ? at : 0)?.focus();
}
