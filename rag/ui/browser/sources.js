// ---- Sources ----

// Quotes are told by the first and the last of their numbers.
const alone = (number) => [Number(number), Number(number)];
const isWithin = (number, [first, last]) => number >= first && number <= last;
// Pick out quotes of a text: 0 picks none. The marks stay where they are; only the chosen ones are strong.
function pickOut(within, body, numbers) {
  const marks = all("mark", within);
  const isChosen = (mark) => mark.dataset.cites?.split(" ").some((number) => isWithin(Number(number), numbers));
  for (const mark of marks) mark.classList.toggle("selected", Boolean(isChosen(mark)));
  const first = marks.find((mark) => isChosen(mark) && mark.getClientRects().length);
  if (first) {
    const offset = first.getBoundingClientRect().top - body.getBoundingClientRect().top;
    body.scrollTop += offset - Math.min(120, body.clientHeight / 3);
  } else {
    body.scrollTop = 0;
  }
}

// Sources are drawn as they read: their signs are hidden by the style sheet, their formulas drawn here, with the KaTeX that
// Gradio brings.
let katex = null;
function loadKatex() {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = KATEX.css;
  document.head.append(style);
  return import(new URL(KATEX.js, document.baseURI).href).then((module) => module.default);
}
async function draw(within) {
  const formulas = all(".readable .formula:not(.drawn)", within);
  if (!formulas.length || !KATEX.js) return false;
  const { render } = await (katex ??= loadKatex());
  for (const formula of formulas.filter((formula) => !formula.matches(".drawn"))) {
    const drawing = document.createElement("span");
    drawing.className = "drawing";
    const displayMode = formula.matches(".display");
    const written = formula.textContent.trim().replace(/^(\$\$?|\\\()|(\$\$?|\\\))$/g, "");
    try {
      render(written, drawing, { displayMode, trust: false, strict: "ignore", maxSize: 20, maxExpand: 200 });
    } catch {
      continue; // what KaTeX cannot read stays as it is written
    }
    formula.classList.add("drawn");
    formula.after(drawing);
    if (drawing.scrollWidth > drawing.clientWidth && displayMode) drawing.tabIndex = 0;
  }
  return true;
}
// Formulas change where things stand: what is picked out is brought into view once more.
async function show(within, body, numbers) {
  pickOut(within, body, numbers);
  if ((await draw(within)) && body.isConnected) pickOut(within, body, numbers);
}
// What only the curious want to see beside the sources: the signs of their Markdown, and on what each sentence rests. It
// is switched in the inspector.
for (const view of ["as-written", "claims"]) {
  const isOn = localStorage.getItem(`interview-rag.${view}`) === "true";
  document.documentElement.toggleAttribute(`data-${view}`, isOn);
}

// An update that says the same as the last one leaves the quote that was picked out since.
let said = "";
let chosen = [0, 0];
// Of the address of a number, such as #cite-1-2-5, its turn and the quotes that it stands for: 2 to 5.
function cited(link) {
  const found = parse(link, "cite");
  return found && { turn: Number(found[1]), numbers: [Number(found[2]), Number(found[3] ?? found[2])] };
}
function choose(turn, numbers) {
  const current = panel();
  if (!current || current.dataset.turn !== String(turn)) return false;
  chosen = numbers;
  show(current, find(".body", current), numbers);
  for (const link of all('#chat a[href^="#cite-"]')) {
    const at = cited(link);
    const isOn = at.turn === turn && at.numbers[0] <= numbers[1] && numbers[0] <= at.numbers[1];
    link.classList.toggle("selected", isOn);
  }
  return true;
}
// Sources of another question are fetched; what is picked out of them is known already.
function pick(turn, numbers) {
  if (choose(turn, numbers)) return;
  chosen = numbers;
  said = `${open()}/${turn}/${numbers[0]}`;
  trigger("select", { action: "pick", number: turn, rest: String(numbers[0]) });
}
