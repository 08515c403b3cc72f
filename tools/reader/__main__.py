"""python -m tools.reader documents | train | measure | pack: make the reader anew, say what it can do, put it into the
program."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import torch

from rag.embedding import BertEmbedder, load_embedder
from rag.errors import UsageError
from rag.models import locate
from rag.reader.network import JoinedReader
from rag.reader.reading import WEIGHTS_FILE
from rag.settings import load_settings
from tools import packed_weights
from tools.reader.data import Row, folded, read_spans
from tools.reader.documents import write_documents
from tools.reader.measure import answerable_auc, read_first, top_1
from tools.reader.mixture import HELD_OUT_FROM, mixture
from tools.reader.train import Recipe, fresh_network, load, train

DOCUMENTS = "documents.jsonl"
OWN = "own"
QUESTIONS = Path(__file__).with_name("questions.jsonl")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.reader", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with documents.jsonl, train/ and what is measured on"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    cutting = commands.add_parser("documents", help="cut Markdown documents into what questions are labelled by")
    cutting.add_argument("folders", nargs="+", type=Path, help="such as corpus; names in it are those of the questions")
    training = commands.add_parser("train", help="train, or go on where training stopped")
    training.add_argument("--out", type=Path, default=Path(".reader"), help="folder of checkpoints and weights")
    training.add_argument("--layers", type=int, choices=(6, 12), default=12)
    training.add_argument("--seed", type=int, default=1)
    training.add_argument("--minutes", type=float, default=600.0, help="stop after so many; a later run goes on")
    training.add_argument("--rate", type=float, default=8e-5)
    training.add_argument("--most", type=int, help="train on so many rows only")
    training.add_argument("--start", type=Path, help="weights to start from in place of the embedder's")
    measuring = commands.add_parser("measure", help="how well packed weights answer files of questions")
    measuring.add_argument(
        "files",
        nargs="+",
        help=f"such as train/cmrc2018_trial, of which what was held out is read; {OWN}: documents held out",
    )
    measuring.add_argument("--weights", type=Path, default=WEIGHTS_FILE)
    measuring.add_argument("--most", type=int, default=1_000, help="rows of each file")
    packing = commands.add_parser("pack", help="write trained weights as the program reads them")
    packing.add_argument("weights", type=Path)
    packing.add_argument("--out", type=Path, default=WEIGHTS_FILE, help="where to (default: into the program)")
    packing.add_argument("--about", type=json.loads, default={}, help="JSON with what is to be known about them")
    return parser


def main() -> int:
    options = build_parser().parse_args()
    if options.command == "documents":
        options.data.mkdir(parents=True, exist_ok=True)
        count = write_documents(options.folders, options.data / DOCUMENTS)
        sys.stdout.write(f"{count} documents in {options.data / DOCUMENTS}\n")
        return 0
    embedder = load_embedder(load_settings(options={"precision": "float32"} if options.command == "pack" else None))
    if not isinstance(embedder, BertEmbedder):
        raise UsageError(
            "the reader shares the vocabulary of the default embedder", hint="leave out the setting `embedder`"
        )
    match options.command:
        case "train":
            return _train(options, embedder)
        case "measure":
            return _measure(options, embedder)
    about = {key: str(value) for key, value in options.about.items()}
    packed_weights.save(options.out, load(options.weights), {"embedder": embedder.identity, **about})
    return 0


def _train(options: argparse.Namespace, embedder: BertEmbedder) -> int:
    torch.set_num_threads(1)  # on two cores two threads of small matrices are no faster than one
    settings = load_settings()
    found = mixture(QUESTIONS, options.data / DOCUMENTS, options.data / "train", seed=options.seed, most=options.most)
    network = fresh_network(locate(settings.embedder, settings.models), options.layers)
    if options.start is not None:
        network.load_state_dict(load(options.start), strict=False)
    recipe = Recipe(rate=options.rate, seed=options.seed)
    done = train(network, embedder, found.rows, recipe, options.out, minutes=options.minutes)
    sys.stdout.write("trained\n" if done else f"stopped; the same command goes on from {options.out}\n")
    return 0


def _measure(options: argparse.Namespace, embedder: BertEmbedder) -> int:
    reader = JoinedReader.open(options.weights, embedder)
    for name in options.files:
        rows = _held_out(options.data) if name == OWN else _public(options.data, name)
        step = max(1, len(rows) // options.most)
        rows = rows[::step][: options.most]
        found = read_first(reader, rows)
        line = f"{name}: {len(rows)} rows, top-1 {top_1(rows, found):.3f}"
        if any(not row.texts[0].answering for row in rows):
            line += f", AUC of answerable {answerable_auc(rows, found):.3f}"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0


def _public(data: Path, name: str) -> list[Row]:
    rows = sorted(read_spans(data / f"{name}.jsonl.gz"), key=lambda row: row.group)
    return [folded(row) for row in rows[HELD_OUT_FROM.get(Path(name).name, 0) :]]


def _held_out(data: Path) -> list[Row]:
    """Each text of the questions about documents that were held out, as a row of its own."""
    rows = mixture(QUESTIONS, data / DOCUMENTS, data / "train", seed=1).held_out
    return [replace(row, texts=(text,)) for row in rows for text in row.texts]


if __name__ == "__main__":
    sys.exit(main())
