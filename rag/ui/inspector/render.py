"""An inspection as HTML: tables, and the whole as a JSON file to download."""

import json
from base64 import b64encode

from rag.answer.inspection import InspectedJudgement, Inspection
from rag.settings import ChatModelName
from rag.ui.elements import figures
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("inspector/render.html")


def render(inspection: Inspection, texts: Texts) -> str:
    times = [f"{value:,.1f} ms" for value in inspection.milliseconds.values()]
    text = json.dumps(inspection.as_dict(), ensure_ascii=False, indent=1)
    return HTML(
        "inspection",
        inspection=inspection,
        download="data:application/json;base64," + b64encode(text.encode()).decode(),
        judged=_judged(inspection.judgement, texts),
        features=_features(inspection.judgement, texts),
        chosen=texts.quoted if inspection.llm == ChatModelName.EXTRACTIVE else texts.given,
        times=figures(
            [[getattr(texts, f"step_{step}") for step in inspection.milliseconds], times],
            [list(inspection.milliseconds), times],
        ),
        texts=texts,
    )


def _judged(judgement: InspectedJudgement, texts: Texts) -> list[str]:
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
    return lines


def _features(judgement: InspectedJudgement, texts: Texts) -> str:
    if not judgement.features:
        return ""
    values = [f"{value:.3f}" for value in judgement.features.values()]
    return figures(
        [[getattr(texts, f"feature_{name}") for name in judgement.features], values],
        [list(judgement.features), values],
    )
