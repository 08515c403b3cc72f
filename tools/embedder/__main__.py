"""python -m tools.embedder train | pack: train the upper layers of the default embedder further, and write them with
one byte a weight. The program does not use them yet (docs/results/best_places.md)."""

import argparse
import sys
from pathlib import Path

from safetensors.torch import load_file

from rag.embedding import BertEmbedder, load_embedder
from rag.errors import UsageError
from rag.models import locate
from rag.reader import weights
from rag.settings import load_settings
from tools.embedder.network import upper_layers
from tools.embedder.pages import TrainedPage, pages_of_index, public_pages, read_questions
from tools.embedder.train import Recipe, train

# Questions of each public file: enough that what is not notes is not forgotten.
PUBLIC = {"cmrc2018_train": 600, "drcd_train_part": 300, "squad2_half_dev": 500, "mlqa_en2zh_dev": 200}


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.embedder", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train from the layers as they were published")
    training.add_argument(
        "--pages", nargs="+", type=Path, action="append", required=True, metavar=("INDEX", "QUESTIONS"),
        help="an index, and files of questions about its documents; may be given again",
    )  # fmt: skip
    training.add_argument("--public", type=Path, help="folder with public questions (docs/reader.md)")
    training.add_argument("--out", type=Path, required=True, help="where the weights go, in float32")
    training.add_argument("--minutes", type=float, default=600.0, help="the rate is down to nothing by then")
    packing = commands.add_parser("pack", help="write trained weights with one byte a weight")
    packing.add_argument("weights", type=Path)
    packing.add_argument("--out", type=Path, default=Path(__file__).with_name("layers.safetensors"))
    return parser


def main() -> int:
    options = build_parser().parse_args()
    if options.command == "pack":
        weights.save(options.out, load_file(options.weights), {})
        return 0
    settings = load_settings()
    embedder = load_embedder(settings)
    if not isinstance(embedder, BertEmbedder):
        raise UsageError(f"{embedder.identity} cannot be trained here", hint="use the default embedder")
    pages: list[TrainedPage] = []
    for index, *files in options.pages:
        found, lost = pages_of_index(index, read_questions(files))
        asked = sum(len(page.asked) for page in found)
        sys.stdout.write(f"{index}: {asked} questions about {len(found)} documents, {lost} without their answer\n")
        pages += found
    for name, most in PUBLIC.items() if options.public else ():
        pages += public_pages(options.public / f"{name}.jsonl.gz", most)
    recipe = Recipe()
    start = upper_layers(load_file(locate(settings.embedder, settings.models) / "model.safetensors"), recipe.first)
    train(embedder, start, pages, recipe, options.out, minutes=options.minutes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
