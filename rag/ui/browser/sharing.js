// ---- A conversation as one file that needs nothing else ----

const OF_A_SHARED_PAGE = `
:root { color-scheme: light dark; --ink: light-dark(#1d2733, #e4e9ee); --soft: light-dark(#5b6875, #9aa7b4); --line: light-dark(#e3e6ea, #2b333d); --asked: light-dark(#e3f0f4, #1d3540); }
body { max-width: 760px; margin: 0 auto; padding: 32px 20px 60px; font: 16px/1.75 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; color: var(--ink); background: light-dark(#fff, #171c22); overflow-wrap: anywhere; }
h1 { font-size: 22px; } header p, .cited, .note { font-size: 13px; color: var(--soft); }
.asked { margin: 32px 0 12px; padding: 8px 14px; border-radius: 10px; background: var(--asked); font-weight: 600; } .asked p { margin: 0; }
.cited { margin-top: 12px; padding-top: 8px; border-top: 1px solid var(--line); } .cited p { margin: 0; } .cited blockquote { margin: 2px 0 8px; padding-left: 12px; border-left: 2px solid var(--line); }
sup { margin: 0 2px; font-size: 11px; color: var(--soft); } p > math[display="block"] { margin: 8px 0; }
table { display: block; overflow-x: auto; border-collapse: collapse; } td, th { padding: 4px 10px; border: 1px solid var(--line); text-align: left; }
pre { padding: 10px 14px; border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; font-size: 13px; }
`;
const NOT_SHARED = ".tools, .follow-ups, .earlier, .read-as, button, script, style, link, iframe, img, svg, details.agent, .katex-html";
const NAMES_KEPT = ["note", "notice", "cited"];

// Where nothing can be pointed at, a mark tells no quote: each stands below its source, unless the answer is in its words.
const quoteOf = (link) => (cited(link)?.numbers[0] ? link.title || link.dataset.quote || "" : "");
const joined = (text) => text.replace(/[\s$]+/g, "");
function addQuotes(said) {
  const links = all("a", said).filter(quoteOf);
  const answer = said.cloneNode(true);
  find(".after", answer)?.remove();
  for (const formula of all(".katex", answer)) formula.replaceWith(find("annotation", formula)?.textContent ?? "");
  const words = joined(answer.textContent);
  for (const line of all(".cited p", said)) {
    const [, first, last] = /^\[(\d+)(?:–(\d+))?\]/.exec(line.textContent.trim()) ?? [];
    const told = new Map(); // by number: a quote may be cited several times
    for (const link of links) {
      const [number] = cited(link).numbers;
      const isNew = !words.includes(joined(quoteOf(link)).replace(/…$/, ""));
      if (isNew && isWithin(number, [Number(first), Number(last ?? first)])) told.set(number, link);
    }
    line.after(
      ...[...told].sort(([one], [other]) => one - other).map(([, link]) => {
        const quote = document.createElement("blockquote");
        quote.className = "readable";
        quote.innerHTML = asDrawn(`[${link.textContent.trim()}] ${quoteOf(link)}`);
        return quote;
      }),
    );
  }
}
// What stands on the page, without what can be done there: formulas as MathML, marks as numbers that tell their quote.
async function asShared(row) {
  const said = (find(".prose", row) ?? row).cloneNode(true);
  for (const part of all(NOT_SHARED, said)) part.remove();
  addQuotes(said);
  await draw(said).catch(() => {}); // without KaTeX formulas stay as they are written
  for (const drawn of all(".formula.drawn", said)) drawn.remove();
  for (const formula of all(".katex", said)) formula.replaceWith(find("math", formula) ?? formula.textContent);
  for (const link of all("a", said)) {
    if (!cited(link)) {
      link.replaceWith(...link.childNodes);
      continue;
    }
    const mark = document.createElement("sup");
    mark.textContent = `[${link.textContent.trim()}]`;
    mark.title = quoteOf(link);
    link.replaceWith(cited(link).numbers[0] === 0 ? "" : mark);
  }
  for (const part of all("*", said)) {
    const names = [...part.classList].filter((name) => NAMES_KEPT.includes(name));
    for (const { name } of [...part.attributes]) {
      if (!["title", "display", "colspan", "rowspan"].includes(name)) part.removeAttribute(name);
    }
    if (names.length) part.className = names.join(" ");
  }
  return said.innerHTML;
}
async function share() {
  const text = (said) => Object.assign(document.createElement("p"), { textContent: said }).innerHTML;
  const title = find("li[aria-current] .title")?.title ?? document.title;
  const day = new Date().toLocaleDateString(document.documentElement.lang);
  const rows = all("#chat .message-row");
  const said = await Promise.all(rows.map(asShared));
  const talk = rows.map(
    (row, place) => `<div class="${row.matches(".user-row") ? "asked" : "answered"}">${said[place]}</div>`,
  );
  const whole = `<!doctype html><html lang="${document.documentElement.lang}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(title)}</title><style>${OF_A_SHARED_PAGE}</style>
<header><h1>${text(title)}</h1><p>${text(find("#title h1")?.textContent ?? "")} · ${day}</p></header>
${talk.join("\n")}</html>\n`;
  const name = title.match(/[\p{L}\p{N}]+/gu)?.join("-").slice(0, 60) || "conversation";
  save({ name: `${name}.html`, type: "text/html", text: whole });
}
