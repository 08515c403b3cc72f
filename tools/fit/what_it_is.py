"""python -m tools.fit.what_it_is: fit which words around a name ask what it is, to the questions that the sections of
corpus/ are written down to answer, and say how well it tells those of pages that it was not fitted to.

Logistic regression with a lasso, so that few words count, both classes of equal weight. Folds are by page.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.reading.loading import read_document
from rag.cli import Parser, run
from rag.evaluation.extra import require_evaluation_extra
from rag.index import open_index
from rag.language.asking import DEFINITION
from rag.paths import CORPUS
from rag.practice.bank import below
from rag.practice.pages import Page, page_of
from rag.question.rare_terms import named_in
from rag.question.what_it_is import WEIGHTS, pieces_around
from rag.settings import Settings
from rag.text.roles import SectionRole, role_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

FOLDS = 5
# The inverse of the lasso's strength. Ten times as much tells 1% more of the questions and counts five times as many
# words, most of which name things.
STRENGTH = 0.05
# In so many questions a piece must stand, and so many questions of other sections are learnt from.
RAREST, OTHERS = 8, 16_000


class Asked(NamedTuple):
    page: str
    pieces: frozenset[str]
    what: bool


def asked_in(index_folder: Path) -> list[Asked]:
    """The questions of the pages that define terms: of each definition with the term it defines, of each other section
    with one of its page; not of what answers the whole page, nor of sections whose heading asks what something is."""
    documents = open_index(index_folder).storage.documents(with_passages=True)
    chance = random.Random(1)
    found = [asked for document in documents for asked in _of_page(page_of(document), chance)]
    others = [asked for asked in found if not asked.what]
    return [asked for asked in found if asked.what] + chance.sample(others, min(OTHERS, len(others)))


def _of_page(page: Page, chance: random.Random) -> Iterator[Asked]:
    names = {section.heading: named_in(section.heading) for section in below(page, SectionRole.TERMS)}
    if not names:
        return
    written = read_document(page.document, CORPUS / page.document, max_bytes=Settings().max_file_megabytes << 20)
    for heading, questions in written.front_matter.questions.items():
        is_what = heading in names
        if is_what or not (role_of(heading) or DEFINITION.search(heading)):
            for question in (*questions, heading):
                of = names[heading if is_what else chance.choice(list(names))]
                yield Asked(page.document, frozenset(pieces_around(question, of)), is_what)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.fit.what_it_is", description="Fit which words ask what something is.")
    parser.add_argument("--index", type=Path, required=True, metavar="DIR", help="an index of corpus/ and nothing else")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_fit, build_parser(), arguments)


def _fit(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold

    asked = asked_in(options.index)
    what = np.asarray([one.what for one in asked])
    vectorizer = CountVectorizer(analyzer=list, min_df=RAREST, binary=True)
    pieces = vectorizer.fit_transform([sorted(one.pieces) for one in asked])
    likely = np.zeros(len(asked))
    for learnt, left_out in GroupKFold(FOLDS).split(asked, groups=[one.page for one in asked]):
        likely[left_out] = _fitted(pieces[learnt], what[learnt]).predict_proba(pieces[left_out])[:, 1]
    sys.stdout.write(
        f"{what.sum()} questions for definitions, {(~what).sum()} for others; page left out: "
        f"AUC {roc_auc_score(what, likely):.3f}, above one half {(likely[what] > 0.5).mean():.3f} of those, "
        f"{(likely[~what] > 0.5).mean():.3f} of these\n"
    )
    fitted = _fitted(pieces, what)
    weights = {
        piece: round(float(weight), 2)
        for piece, weight in sorted(zip(vectorizer.get_feature_names_out(), fitted.coef_[0], strict=True))
        if round(float(weight), 2)
    }
    if options.write:
        lines = [f"{json.dumps(piece, ensure_ascii=False)} = {weight}" for piece, weight in weights.items()]
        text = f"# Written by `python -m tools.fit.what_it_is`.\nintercept = {fitted.intercept_[0]:.2f}\n\n[pieces]\n"
        WEIGHTS.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(weights)} pieces count\n")
    return 0


def _fitted(pieces: "csr_matrix", what: NDArray[np.bool_]) -> "LogisticRegression":
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=STRENGTH, class_weight="balanced")
    return model.fit(pieces, what)


if __name__ == "__main__":
    sys.exit(main())
