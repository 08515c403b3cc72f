"""An inspection as HTML: tables, and the whole as a JSON file to take away."""

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from rag.answer.inspection import Candidate, Inspection, Judgement, SideRanking
from rag.settings import ChatModelName
from rag.types import Found
from rag.ui.figures import figures
from rag.ui.texts import Texts


def render(inspection: Inspection, texts: Texts) -> str:
    times = [f"{value:,.1f} ms" for value in inspection.milliseconds.values()]
    return "".join(
        (
            _download(inspection, texts),
            _heading(texts.standalone),
            f"<p>{escape(inspection.standalone)}</p>",
            _heading(texts.searched),
            _lines(inspection.queries),
            _heading(texts.ranking),
            _ranking(inspection.candidates, inspection.proposed, inspection.top_k, texts),
            *(_side(side, inspection.top_k, texts) for side in inspection.sides),
            _heading(texts.judgement),
            _judgement(inspection.judgement, texts),
            _chosen(inspection, texts),
            _prompt(inspection, texts),
            _heading(texts.times),
            figures(
                [[getattr(texts, f"step_{step}") for step in inspection.milliseconds], times],
                [list(inspection.milliseconds), times],
            ),
        )
    )


def _chosen(inspection: Inspection, texts: Texts) -> str:
    """What is quoted, or given to the chat model."""
    heading = _heading(texts.quoted if inspection.llm == ChatModelName.EXTRACTIVE else texts.given)
    if inspection.judgement.refused:
        return heading + _hint(texts.nothing_chosen)
    return heading + "".join(
        _quote(" › ".join(filter(None, (part.document, part.heading))), part.text) for part in inspection.chosen
    )


def _quote(place: str, text: str) -> str:
    return f'<blockquote><span class="path">{escape(place)}</span>{escape(text)}</blockquote>'


def _side(side: SideRanking, top_k: int, texts: Texts) -> str:
    heading = f"<h4>{escape(texts.side.format(query=side.query))}</h4>"
    return heading + _ranking(side.candidates, side.proposed, top_k, texts)


def _ranking(candidates: Sequence[Candidate], proposed: int, top_k: int, texts: Texts) -> str:
    if not candidates:
        return _hint(texts.nothing)
    hint = texts.ranking_hint.format(proposed=proposed, listed=len(candidates), top_k=top_k)
    columns = (
        texts.rank, texts.passage, texts.dense, texts.keyword, texts.cosine, texts.share, texts.likeness, texts.fused,
        texts.fate,
    )  # fmt: skip
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_row(candidate, texts) for candidate in candidates)
    return (
        f'{_hint(hint)}<div class="scroll" tabindex="0"><table class="figures ranking">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(candidate: Candidate, texts: Texts) -> str:
    numbers = (
        (texts.dense, _found(candidate.dense)),
        (texts.keyword, _found(candidate.keyword)),
        (texts.cosine, f"{candidate.cosine:.3f}"),
        (texts.share, f"{candidate.share:.3f}"),
        (texts.likeness, "–" if candidate.likeness is None else f"{candidate.likeness:.3f}"),
        (texts.fused, f"{candidate.fused:.3f}"),
        (texts.fate, getattr(texts, candidate.fate)),
    )
    place = " › ".join((candidate.document, *candidate.section[-1:]))
    cells = "".join(f'<td data-label="{escape(label)}">{escape(cell)}</td>' for label, cell in numbers)
    return (
        f'<tr class="{candidate.fate}"><td>{candidate.rank}</td><td class="passage"><span class="path">'
        f"{escape(place)}</span>{escape(candidate.text)}</td>{cells}</tr>"
    )


def _found(found: Found | None) -> str:
    return "–" if found is None else f"{found.rank} · {found.score:.3f}"


def _judgement(judgement: Judgement, texts: Texts) -> str:
    reason = getattr(texts, f"reason_{judgement.reason}", judgement.reason)
    answered = texts.nearest if judgement.nearest else texts.answered
    lines = [texts.refused.format(reason=reason) if judgement.refused else answered]
    if judgement.log_odds is None or judgement.probability is None:
        lines.append(texts.no_calibration)
    else:
        lines.append(
            texts.odds.format(
                odds=judgement.log_odds, threshold=judgement.threshold, probability=f"{judgement.probability:.0%}"
            )
        )
    if judgement.names:
        lines.append(texts.names.format(names=", ".join(judgement.names)))
    if judgement.missing:
        lines.append(texts.missing.format(names=", ".join(judgement.missing)))
    if judgement.unheard:
        lines.append(texts.unheard)
    if judgement.reading is not None:
        lines.append(texts.reading.format(odds=judgement.reading))
    values = [f"{value:.3f}" for value in judgement.features.values()]
    features = figures(
        [[getattr(texts, f"feature_{name}") for name in judgement.features], values],
        [list(judgement.features), values],
    )
    return _lines(lines) + (features if judgement.features else "")


def _prompt(inspection: Inspection, texts: Texts) -> str:
    if not inspection.prompt:
        return "" if inspection.judgement.refused else _hint(texts.no_prompt)
    messages = "".join(
        f'{_hint(getattr(texts, f"role_{role}"))}<pre tabindex="0">{escape(text)}</pre>'
        for role, text in inspection.prompt
    )
    heading = _heading(texts.prompt.format(llm=inspection.llm))
    return heading + _hint(texts.prompt_hint.format(tokens=inspection.prompt_tokens)) + messages


def _download(inspection: Inspection, texts: Texts) -> str:
    text = json.dumps(inspection.as_dict(), ensure_ascii=False, indent=1)
    address = "data:application/json;base64," + b64encode(text.encode()).decode()
    return f'<p><a class="download" download="inspection.json" href="{address}">{escape(texts.download)}</a></p>'


def _hint(text: str) -> str:
    return f'<p class="hint">{escape(text)}</p>'


def _heading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
