// ---- A conversation from a file ----

document.addEventListener("change", async (event) => {
  const input = event.target.closest?.("input[data-import]");
  const file = input?.files[0];
  if (!file) return;
  const packed = await pack(file);
  input.value = ""; // the same file can be chosen again
  send({ action: "import", number: 0, rest: file.name, packed });
});
