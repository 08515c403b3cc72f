// ---- Clicks ----

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const cite = cited(link);
  const ask = parse(link, "ask");
  const room = ROOM.exec(link?.getAttribute("href") ?? "")?.[0];
  const button = event.target.closest?.("button");
  const what = button && deed(button);
  if (!tip.contains(event.target)) hideTip();
  for (const menu of all("details.menu[open]")) {
    if (!menu.contains(event.target) || what) menu.open = false;
  }
  if (cite) {
    event.preventDefault();
    setOpen(true);
    pick(cite.turn, cite.numbers);
  } else if (ask) {
    event.preventDefault();
    send({ action: "ask", number: Number(ask[1]), rest: ask[2] });
  } else if (room) {
    event.preventDefault();
    openRoom(room);
  } else if (what) {
    act(what, button);
  } else if (event.target.closest?.(".panel .close")) {
    setOpen(false);
  } else if (event.target.closest?.("#whole .close") || event.target === whole()) {
    setWhole(false);
  } else if (event.target.closest?.(".drawer")) {
    setDrawer(true);
  } else if (!event.target.closest?.("#list-column")) {
    setDrawer(false);
  } else if (event.target.closest?.("#clear, .close-drawer, .conversations .title")) {
    setDrawer(false);
  }
});

// A key, or an endpoint with its key, is gone for good: the first click only asks, for a few seconds.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest?.("#model-forget-key, #model-forget");
    if (!button || button.dataset.sure) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const name = button.textContent;
    button.dataset.sure = "yes";
    button.textContent = words().sure;
    setTimeout(() => {
      delete button.dataset.sure;
      button.textContent = name;
    }, 4_000);
  },
  true,
);

// A sentence shows its own quote where the sources are in view.
document.addEventListener("click", ({ target }) => {
  const at = /cite-(\d+)-(\d+)/.exec(target.closest?.("#chat .claim")?.className);
  const inView = panel()?.checkVisibility({ visibilityProperty: true });
  if (at && inView && !target.closest("a") && getSelection().isCollapsed) pick(Number(at[1]), alone(at[2]));
});

function act(what, button) {
  if (what.action === "copy") return copy(button);
  if (what.action === "aloud") return readAloud(button);
  if (what.action === "rename") return rename(what.number, button.closest("li"));
  if (what.action === "tag") return setTag(what.number, button.closest("li"));
  if (what.action === "link") return copyLink(what.number, button.dataset.told);
  if (what.action === "print") return showWhole(what.number, () => window.print());
  if (what.action === "share") return showWhole(what.number, share);
  if (what.action === "write") return window.chooseWriter(what.rest);
  if (what.action === "earlier") keepPlace();
  send(what);
  if (what.action === "delete") localStorage.removeItem(draftOf(what.number));
  if (what.action === "about") openRoom("#room-chat");
  if (what.action === "about") requestAnimationFrame(() => setTimeout(() => box().focus(), 100)); // once it is seen
  if (["edit", "unedit", "scope", "unscope"].includes(what.action)) box().focus();
}

const rename = (number, item) =>
  writeIn(find(".new-name", item), (title) => title && send({ action: "rename", number, rest: title }));
// A field comes in place of what it changes. Enter, or a click elsewhere, keeps what was written; Escape does not.
function writeIn(input, keep) {
  const end = (isKept) => {
    if (input.hidden) return;
    input.hidden = true;
    const written = input.value.trim();
    if (isKept && written !== input.defaultValue) keep(written);
  };
  input.hidden = false;
  input.value = input.defaultValue;
  input.focus();
  input.select();
  input.onblur = () => end(true);
  input.onkeydown = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") end(true);
    if (event.key === "Escape") {
      event.stopPropagation();
      end(false);
    }
  };
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest?.("form.opinion");
  if (!form) return;
  event.preventDefault();
  const values = new FormData(form);
  const number = Number(form.dataset.number);
  send({ action: "opine", number, reasons: values.getAll("reason"), note: values.get("note") });
});
