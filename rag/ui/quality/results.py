"""Evaluation results as tables and plots."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rag.errors import UsageError, as_called
from rag.evaluation.answers import report as answers_report
from rag.evaluation.answers import table as answers_table
from rag.evaluation.answers.table import NAMES
from rag.evaluation.retrieval import report
from rag.evaluation.retrieval.systems import OURS, is_baseline
from rag.ui.elements import figures, hint
from rag.ui.quality.kept import EvaluationKind, Measured
from rag.ui.templates import macros_of
from rag.ui.texts import Language, Texts

HTML = macros_of("quality/results.html")

ZH, EN = Language.ZH, Language.EN
# The dataset written for this program's own corpus.
OWN_SET = "gold"
SETS = {
    OWN_SET: {ZH: "本程序的标准题", EN: "This program's own questions"},
    "drcd_dev_hans2hant": {ZH: "繁体阅读理解 DRCD", EN: "DRCD, traditional Chinese"},
    "dureader_demo_doc": {ZH: "搜索问答 DuReader", EN: "DuReader, web search"},
    "interview_q2a": {ZH: "面试题找答案", EN: "Interview questions to answers"},
    "xquad_en_zh": {ZH: "英文问中文 XQuAD", EN: "XQuAD, English to Chinese"},
}
SPLITS = {"test": {ZH: "测试题", EN: "test questions"}, "dev": {ZH: "调试题", EN: "development questions"}}
SYSTEMS = {
    "ours": {ZH: "本程序", EN: "This program"},
    "dense": {ZH: "向量", EN: "Vectors"},
    "keyword": {ZH: "关键词 BM25", EN: "Keywords, BM25"},
    "rrf": {ZH: "倒数排名融合", EN: "Reciprocal rank fusion"},
    "langchain": {ZH: "LangChain", EN: "LangChain"},
    "langchain-chinese": {ZH: "LangChain，中文切分", EN: "LangChain, Chinese splits"},
    "langchain-bm25": {ZH: "LangChain BM25", EN: "LangChain BM25"},
    "langchain-bm25-jieba": {ZH: "LangChain BM25，jieba 分词", EN: "LangChain BM25, jieba"},
    "langchain-bm25-bigrams": {ZH: "LangChain BM25，二元组", EN: "LangChain BM25, bigrams"},
}
ANSWERERS = {
    "extractive": {ZH: "逐句摘引", EN: "Quotes"},
    "local": {ZH: "本机模型", EN: "Local model"},
    "endpoint": {ZH: "配置的接口", EN: "Endpoint"},
    "ollama": {ZH: "Ollama", EN: "Ollama"},
}


def system_name(system: str, language: Language) -> str:
    return SYSTEMS.get(system, {}).get(language, system)


def set_name(dataset: str, split: str, language: Language, *more: str) -> str:
    """
    >>> set_name("gold", "test", Language.EN), set_name("xquad_en_zh", "dev", Language.ZH, "e5")
    ("This program's own questions · test questions", '英文问中文 XQuAD · 调试题 · e5')
    """
    part = "" if split == "all" else SPLITS.get(split, {}).get(language, split)
    return " · ".join(filter(None, (SETS.get(dataset, {}).get(language, dataset), part, *more)))


def answerer_name(llm: str, model: str | None, language: Language) -> str:
    name = ANSWERERS.get(llm, {}).get(language, llm)
    return f"{name} ({model})" if model else name


TICKS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True, slots=True)
class Dot:
    """A value in 0..1 with its interval. `target` is drawn as a line; `strong` marks our own system. `raw` is its name
    in files, if that differs from the label."""

    label: str
    value: float
    low: float
    high: float
    target: float | None = None
    strong: bool = False
    raw: str = ""


def plot(dots: Sequence[Dot], caption: str) -> str:
    """The plot as HTML. Each row has its label, a line from 0 to 1, and the value; style.css arranges them."""
    return HTML("plot", dots=dots, caption=caption, ticks=TICKS)


# The measures plotted for an answerer, all in 0..1.
ANSWERS = ("citation_precision", "citation_relevance", "citation_recall", "evidence_found", "two_sided_cited")
REFUSALS = ("refusal_recall", "refusal_precision", "false_refusals")
COMMAND = "python -m rag eval retrieval GOLD --out FILE"


def shipped(folder: Path, texts: Texts, language: Language) -> str:
    """The results in the subfolders `retrieval` and `answers` of a folder, as HTML."""

    def searches() -> str:
        results = sorted(report.read_results(folder / "retrieval"), key=lambda result: result.dataset != OWN_SET)
        return HTML("section", heading=texts.shipped_retrieval, body=_compared(results, texts, language))

    def answers() -> str:
        results = answers_report.read_results(folder / "answers")
        shown = (_answered(result, texts, language) for result in results)
        return "".join(HTML("section", heading=texts.shipped_answers, body=body) for body in shown)

    parts = (("retrieval", searches), ("answers", answers))
    shown = [_or_problem(show, texts) for name, show in parts if any((folder / name).glob("*.json"))]
    return "".join(shown) or hint(texts.none.format(folder=folder.name, command=as_called(COMMAND)))


def own(measured: Mapping[EvaluationKind, Measured], texts: Texts, language: Language) -> str:
    """The results measured from the page, latest first, as HTML."""
    parts: list[str] = []
    for kind, last in sorted(measured.items(), key=lambda pair: pair[1].at, reverse=True):
        show = _own_retrieval if kind is EvaluationKind.RETRIEVAL else _own_answers
        parts.append(_or_problem(partial(show, last, texts, language), texts))
    return "".join(parts)


def _own_retrieval(last: Measured, texts: Texts, language: Language) -> str:
    heading = texts.here_retrieval.format(count=last.result["queries"]["scored"], date=_date(last))
    body = _compared([report.Result.model_validate(last.result)], texts, language)
    return HTML("section", heading=heading, body=body)


def _own_answers(last: Measured, texts: Texts, language: Language) -> str:
    heading = texts.here_answers.format(count=last.result["questions"]["asked"], date=_date(last))
    return HTML("section", heading=heading, body=_answered(last.result, texts, language))


def _date(last: Measured) -> str:
    return f"{last.at:%Y-%m-%d %H:%M}"


def _or_problem(show: Callable[[], str], texts: Texts) -> str:
    """What `show` returns; a message if it fails, since result files may come from elsewhere or from another
    version."""
    try:
        return show()
    except (UsageError, ValueError, KeyError, TypeError, AttributeError) as error:
        return HTML("unreadable", told=texts.unreadable.format(problem=error))


def _compared(results: Sequence[report.Result], texts: Texts, language: Language) -> str:
    several = len({result.embedder for result in results}) > 1
    names = [
        set_name(result.dataset, result.split, language, result.embedder.partition("@")[0] if several else "")
        for result in results
    ]
    labels = report.labels(results)
    plots = []
    for label, name, result in zip(labels, names, results, strict=True):
        shown = [system for system in result.systems if system == OURS or is_baseline(system)]
        dots = [
            Dot(system_name(system, language), mean.value, mean.low, mean.high, strong=system == OURS, raw=system)
            for system in shown
            if (mean := result.ndcg(system)) is not None
        ]
        plots.append((label, name, plot(dots, f"{name}: {texts.plot_hint}")))
    rows = report.cells(results, language, names=names, system_name=partial(system_name, language=language))
    return HTML("compared", plots=plots, table=figures(rows, report.cells(results, language)), texts=texts)


def _answered(result: Mapping[str, Any], texts: Texts, language: Language) -> str:
    when = texts.when.format(date=result.get("date", "–"), commit=str(result.get("commit") or "–")[:7])
    who = answerer_name(result["llm"], result["model"], language)
    name = f"{who} · {set_name(result['dataset'], result['split'], language)}"
    return HTML(
        "answered",
        label=answers_table.label(result),
        about=f"{name} · {when}",
        answers=_measures(result, ANSWERS, texts.dots_hint, language),
        refusals=_measures(result, REFUSALS, texts.dots_hint, language),
        table=figures(answers_table.cells([result], language, called=[name]), answers_table.cells([result], language)),
        texts=texts,
    )


def _measures(result: Mapping[str, Any], names: Iterable[str], caption: str, language: Language) -> str:
    gates = result.get("gates", {})
    dots = []
    for name in names:
        value = result["measures"].get(name)
        if value:
            gate = gates.get(name, {})
            target = gate.get("at_least", gate.get("at_most"))
            dots.append(
                Dot(NAMES[str(language)][name], value["value"], value["low"], value["high"], target, strong=True)
            )
    return plot(dots, caption) if dots else ""
