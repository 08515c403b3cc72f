"""python -m tools.judge train | measure | pack: teach a network to tell statements that say a claim from those that
deny it, say how well it does on pages that were left out, and put it into the program."""

import argparse
import sys
from pathlib import Path

from safetensors import numpy as exact
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score

from rag.embedding import BertEmbedder, load_embedder
from rag.errors import UsageError
from rag.models import locate
from rag.practice.judge import WEIGHTS_FILE, Judge
from rag.settings import load_settings
from tools import packed_weights
from tools.bert import Bert
from tools.judge.statements import is_held_out, pairs_of, read_claims
from tools.judge.train import fresh, train

STATEMENTS = Path(__file__).with_name("statements.jsonl")
# Every so manieth of the reader's twelve layers.
EVERY = 2


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.judge", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train on all pages but those that are left out")
    training.add_argument("--out", type=Path, required=True, help="where the weights go, in float32")
    training.add_argument("--minutes", type=float, default=60.0, help="the rate is down to nothing by then")
    measuring = commands.add_parser("measure", help="how well statements about pages that were left out are told apart")
    measuring.add_argument("weights", type=Path)
    packing = commands.add_parser("pack", help="one byte a weight, where the program reads them")
    packing.add_argument("weights", type=Path)
    return parser


def main() -> int:
    options = build_parser().parse_args()
    settings = load_settings()
    embedder = load_embedder(settings)
    if not isinstance(embedder, BertEmbedder):
        raise UsageError(f"nothing can be trained over {embedder.identity}", hint="use the default embedder")
    claims = read_claims([STATEMENTS])
    if options.command == "train":
        pairs = pairs_of([claim for claim in claims if not is_held_out(claim.document)], seed=1)
        network = Bert.open(locate(settings.embedder, settings.models))
        train(embedder, network, fresh(embedder, EVERY), pairs, options.out, minutes=options.minutes)
        return 0
    if options.command == "pack":
        packed_weights.save(WEIGHTS_FILE, load_file(options.weights), {"embedder": embedder.identity})
        return 0
    judge = Judge(embedder, exact.load_file(options.weights))
    held_out = [claim for claim in claims if is_held_out(claim.document)]
    for name, is_point in (("of points", True), ("of other claims, written to look alike", False)):
        # Points have as many statements as they have facts, other claims two of each kind.
        part = [claim for claim in held_out if (len(claim.wrong) > 2) is is_point]
        said = [(claim.text, statement) for claim in part for statement in (*claim.right, *claim.wrong)]
        denied = [place >= len(claim.right) for claim in part for place in range(len(claim.right) + len(claim.wrong))]
        odds = judge.judge(said)
        auc = roc_auc_score(denied, [one.denies - one.says for one in odds])
        sys.stdout.write(f"{len(said)} statements {name}: AUC of denied from said {auc:.3f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
