"""python -m tools.bench.readers: what the page's server holds after 200 questions of three readers and an ingest."""

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect

from rag.cli import Parser, run
from rag.paths import CORPUS, PROGRAM
from rag.ui.texts import LIBRARY_TEXTS, Language
from tools.bench.measuring import machine, resident_megabytes
from tools.bench.ui_load import gold_questions, load
from tools.browser import open_browser, open_page
from tools.server_process import running

# What is promised, in MB: once the page can be asked, and after all that is asked and read here.
AT_START, AT_END = 600, 1_100
READERS, QUESTIONS = 3, 201
# Documents that are read in between, and how many pages of the corpus each is put together from.
NOTES, PAGES_OF_A_NOTE = 20, 2


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.bench.readers", description="Three readers ask, and documents come in.")
    parser.add_argument("--index", type=Path, default=".interview-rag/index", help="index of corpus/, which is copied")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help=f"of all readers (default {QUESTIONS})")
    parser.add_argument("--notes", type=int, default=NOTES, help=f"documents that come in (default {NOTES})")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the JSON goes as well")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_measure, build_parser(), arguments)


def _measure(options: argparse.Namespace) -> int:
    questions = gold_questions()[: options.questions]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(options.index, folder / "index")
        notes = write_notes(folder / "notes", options.notes)
        command = [sys.executable, str(PROGRAM / "app.py"), "--index", str(folder / "index"), "--llm", "extractive"]
        environment = {**os.environ, "INTERVIEW_RAG_DATA": str(folder / "data")}
        with running(command, folder=folder, environment=environment) as server:
            rows: list[dict[str, object]] = []

            def held(when: str) -> float:
                megabytes = resident_megabytes(server.process.pid)
                own = resident_megabytes(server.process.pid, own=True)
                rows.append({"when": when, "MB": round(megabytes), "MB without mapped files": round(own)})
                return megabytes

            started = held("the page can be asked")
            asked = asyncio.run(load(server.address, questions, chats=READERS, each=len(questions) // READERS))
            held(f"after {len(questions)} questions of {READERS} readers")
            read_in(server.address, notes)
            held(f"after {len(notes)} documents came in")
            again = asyncio.run(
                load(server.address, questions[::-1], chats=READERS, each=len(questions) // READERS // 4)
            )
            ended = held("after a quarter of these questions more")
    met = not asked["errors"] and not again["errors"] and started <= AT_START and ended <= AT_END
    result = {"machine": machine(), "rows": rows, "asked": asked, "met": met}
    sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    if options.out:
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0 if met else 1


def write_notes(folder: Path, count: int) -> list[Path]:
    """Documents of the corpus's own sentences under other titles, so that all of their passages have to be embedded."""
    folder.mkdir()
    pages = sorted(page for page in CORPUS.glob("*/*.md") if "\n## 展开\n" in page.read_text(encoding="utf-8"))
    parts = [page.read_text(encoding="utf-8").split("\n## 展开\n")[1].split("\n## ")[0] for page in pages]
    notes = []
    for number in range(count):
        text = "\n".join(parts[number * PAGES_OF_A_NOTE : (number + 1) * PAGES_OF_A_NOTE])
        notes.append(folder / f"note-{number + 1}.md")
        notes[-1].write_text(f"# 笔记 {number + 1}\n\n{text}\n", encoding="utf-8")
    return notes


def read_in(address: str, notes: list[Path]) -> None:
    """Add documents in the library of the page, and wait until they can be asked about."""
    with open_browser() as browser:
        page = open_page(browser, address)
        page.get_by_role("tab", name=LIBRARY_TEXTS[Language.ZH].tab, exact=True).click()
        page.set_input_files("#library-files input[type=file]", notes)
        expect(page.locator("#library-run .counts")).to_contain_text(f"新增 {len(notes)}", timeout=600_000)


if __name__ == "__main__":
    sys.exit(main())
