"""python -m tools.house: the shape of the code, and our Python files that a question and a document pass."""

import argparse
import ast
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np

from rag.paths import PROGRAM

MODULES_A_FOLDER = 16
LINES_A_FILE = 400
LINES_OF_MOST_FUNCTIONS, LINES_OF_A_FUNCTION = 35, 90
FILES_OF_A_QUESTION, FILES_OF_A_DOCUMENT = 32, 22
# The packages of the program; tests are held to the length of files only.
HOUSE = ("app.py", "rag", "ingest", "tools")
NO_ROOMS = {"__init__.py", "__main__.py"}
PAGE_FILES = ("*.js", "*.css", "*.html")


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    lines: int


def modules_by_folder() -> dict[str, int]:
    """How many modules lie side by side in each folder."""
    counts: dict[str, int] = {}
    for file in _python(*HOUSE):
        if file.name not in NO_ROOMS:
            folder = _name(file.parent)
            counts[folder] = counts.get(folder, 0) + 1
    return counts


def lines_by_file(*, tests: bool = False) -> dict[str, int]:
    """How long the files of the program are, with the page's; or those of the tests."""
    files = [*_python("tests")] if tests else [*_python(*HOUSE), *_page_files()]
    return {_name(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files}


def functions() -> list[Function]:
    """Every function and method of the program with its lines, decorators aside."""
    found = []
    for file in _python(*HOUSE):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                found.append(Function(f"{_name(file)}:{node.name}", lines))
    return found


def ninth_tenth(found: list[Function]) -> float:
    return float(np.percentile([function.lines for function in found], 90))


def files_entered(work: Callable[[], object]) -> set[str]:
    """The Python files of ours in which a function is entered while `work` runs, in threads that it starts too."""
    entered: set[str] = set()

    def profile(frame: FrameType, event: str, argument: object) -> None:
        # A generator that goes on is entered as well; what only runs at import is not a function.
        if event == "call" and frame.f_code.co_name != "<module>":
            entered.add(frame.f_code.co_filename)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    ours = {_name(Path(name)) for name in entered if Path(name).is_relative_to(PROGRAM) and name.endswith(".py")}
    return {name for name in ours if name == "app.py" or name.startswith(("rag/", "ingest/"))}


def files_of_a_question(folder: Path) -> set[str]:
    """From the page's question to a cited answer as the page renders it, with everything loaded by an answer before."""
    from rag.answer.assistant import Assistant
    from rag.settings import ChatModelName, Settings
    from rag.ui.chat.exchange import answer
    from rag.ui.chat.messages import messages, panel
    from rag.ui.session.session import Session
    from tools.hash_embedder import HashEmbedder

    _ingest(folder)
    assistant = Assistant(Settings(index=folder / "index", llm=ChatModelName.EXTRACTIVE), HashEmbedder())

    def ask() -> None:
        session = Session()
        for _ in answer(assistant, session, "LoRA 的秩一般取多少？"):
            messages(session)
            panel(session)
        (exchange,) = session.exchanges
        if exchange.answer is None or not exchange.answer.citations:
            raise AssertionError(f"no cited answer: {exchange.problem or exchange.answer}")

    ask()
    return files_entered(ask)


def files_of_a_document(folder: Path) -> set[str]:
    """From a Markdown file to FAISS, with everything loaded by a document before."""
    _ingest(folder)
    (folder / "documents" / "zero.md").write_text("# ZeRO\n\nZeRO-2 分片优化器状态和梯度。\n", encoding="utf-8")
    return files_entered(lambda: _ingest(folder))


def _ingest(folder: Path) -> None:
    from ingest.sync import sync
    from rag.settings import Settings
    from tools.hash_embedder import HashEmbedder

    documents = folder / "documents"
    documents.mkdir(exist_ok=True)
    text = "# LoRA\n\n## 秩\n\nLoRA 的秩一般取 8 到 64，任务越难取得越大。\n"
    (documents / "lora.md").write_text(text, encoding="utf-8")
    embedder = HashEmbedder()
    sync(Settings(index=folder / "index"), lambda: embedder, [documents], identity=embedder.identity)


def _python(*places: str) -> Iterator[Path]:
    for place in places:
        path = PROGRAM / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _page_files() -> Iterator[Path]:
    for pattern in PAGE_FILES:
        yield from sorted((PROGRAM / "rag").rglob(pattern))


def _name(path: Path) -> str:
    return path.relative_to(PROGRAM).as_posix()


def rows() -> Iterator[tuple[str, str, str, str]]:
    """What is measured, the worst, its place, and the limit."""
    folders, lengths, tests, found = modules_by_folder(), lines_by_file(), lines_by_file(tests=True), functions()
    for what, counts, limit in (
        ("modules in a folder", folders, MODULES_A_FOLDER),
        ("lines of a file", lengths, LINES_A_FILE),
        ("lines of a test file", tests, LINES_A_FILE),
    ):
        worst = max(counts, key=lambda name: counts[name])
        yield what, str(counts[worst]), worst, str(limit)
    yield "lines of a function, 90%", f"{ninth_tenth(found):.0f}", "", str(LINES_OF_MOST_FUNCTIONS)
    longest = max(found, key=lambda function: function.lines)
    yield "lines of a function", str(longest.lines), longest.name, str(LINES_OF_A_FUNCTION)
    for what, measure, limit in (
        ("files from the page to a cited answer", files_of_a_question, FILES_OF_A_QUESTION),
        ("files from Markdown to FAISS", files_of_a_document, FILES_OF_A_DOCUMENT),
    ):
        with tempfile.TemporaryDirectory() as folder:
            files = measure(Path(folder))
        yield what, str(len(files)), "", str(limit)


def main() -> int:
    argparse.ArgumentParser(prog="python -m tools.house", description=__doc__).parse_args()
    table = [("measure", "worst", "where", "limit"), *rows()]
    widths = [max(len(row[column]) for row in table) for column in range(4)]
    for row in table:
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
