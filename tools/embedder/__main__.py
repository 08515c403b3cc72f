"""python -m tools.embedder train | model: train the upper layers of the default embedder further, and write them as a
model to try with the setting `models`. The program does not use them (docs/results/best_places.md)."""

import argparse
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from rag.embedding import BertEmbedder, load_embedder
from rag.errors import UsageError
from rag.models.e5 import bert_weights, convert
from rag.models.e5_file import read
from rag.models.pinned import find
from rag.models.store import published_path, source_path, write_origin
from rag.settings import Settings, load_settings
from tools.embedder.network import between, upper_layers
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
    writing = commands.add_parser("model", help="write a folder of models to try with the setting `models`")
    writing.add_argument("weights", type=Path)
    writing.add_argument("--share", type=float, default=1.0, help="0: the published weights, 1: the trained ones")
    writing.add_argument("--out", type=Path, required=True)
    return parser


def main() -> int:
    options = build_parser().parse_args()
    settings = load_settings()
    recipe = Recipe()
    start = upper_layers(_published(settings), recipe.first)
    if options.command == "model":
        _write_model(options.out, settings, between(start, load_file(options.weights), options.share))
        return 0
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
    train(embedder, start, pages, recipe, options.out, minutes=options.minutes)
    return 0


def _published(settings: Settings) -> dict[str, Tensor]:
    """The weights of the default embedder as its file has them."""
    file = source_path(find(settings.embedder), settings.models)
    return {name: torch.from_numpy(weight) for name, weight in bert_weights(read(file))}


def _write_model(folder: Path, settings: Settings, layers: Mapping[str, Tensor]) -> None:
    """The default embedder with other layers, in a folder of models of its own, under the name and the identity that it
    has: an index must be made with it anew."""
    model = find(settings.embedder)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source_path(model, settings.models), source_path(model, folder))
    place = published_path(model, folder)
    shutil.rmtree(place, ignore_errors=True)
    convert(source_path(model, folder), place)
    file = place / "model.safetensors"
    weights = load_file(file) | {name: layer.bfloat16() for name, layer in layers.items()}
    save_file(weights, file, metadata={"format": "pt"})
    file.chmod(0o644)  # safetensors lets only the owner read
    write_origin(model, place)


if __name__ == "__main__":
    sys.exit(main())
