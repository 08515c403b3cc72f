// After the start is tried again the server comes back at the same address, with the chat or with this page anew.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("#guide-again")) return;
  const look = async () => {
    const back = await fetch("/", { cache: "no-store" }).then((answer) => answer.ok, () => false);
    if (back) location.reload();
    else setTimeout(look, 1000);
  };
  setTimeout(look, 3000);
});
