// Additional views of the sources, switched here and stored by the browser; sources.js restores them on the next visit.
const root = document.documentElement;
const settle = () => {
  for (const box of element.querySelectorAll("input[data-view]")) box.checked = root.hasAttribute(`data-${box.dataset.view}`);
};
element.addEventListener("change", ({ target }) => {
  const { view } = target.dataset;
  root.toggleAttribute(`data-${view}`, target.checked);
  localStorage.setItem(`interview-rag.${view}`, target.checked);
});
new MutationObserver(settle).observe(element, { childList: true, subtree: true });
settle();
