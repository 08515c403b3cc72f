"""python -m tools.same record FOLDER | compare BEFORE AFTER: whether a change of the code left every output as it was.

`record` asks the program, through its commands and servers, what it says to the labelled questions and attempts of
`rag/evaluation/data`, quotes only, and keeps the replies without times; `compare` names what differs.
"""

import argparse
import itertools
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rag.evaluation.progress import bar
from rag.index import open_index
from rag.paths import PROGRAM
from tools.api_process import serve
from tools.server_process import running

DATA = PROGRAM / "rag" / "evaluation" / "data"
QUESTIONS = ("asked", "gold", "multi_hop")
TIMES = ("seconds", "milliseconds", "created", "id", "url")
# Of so many questions each is also inspected, and asked over HTTP and MCP.
SAMPLE = 20
# Differences that are printed of each kind of output.
SHOWN = 3

Row = dict[str, Any]


def questions(every: int) -> list[Row]:
    rows = [{**row, "id": f"{name}/{row['id']}"} for name in QUESTIONS for row in _lines(DATA / f"{name}.jsonl")]
    return [{"id": row["id"], "question": row["question"], "history": _history(row)} for row in rows[::every]]


def _history(row: Row) -> list[list[str]]:
    return row.get("history") or ([["user", row["after"]]] if row.get("after") else [])


def _lines(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def batch(command: list[str], rows: list[Row]) -> Iterator[tuple[str, Any]]:
    """What a command that reads JSON lines answers to each row."""
    given = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    call = [sys.executable, "-m", "rag", *command, "-"]
    done = subprocess.run(call, input=given, capture_output=True, text=True, encoding="utf-8", cwd=PROGRAM, check=False)
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        yield answer["id"], without_times(answer)


def outputs(index: Path, every: int) -> dict[str, Callable[[], Iterator[tuple[str, Any]]]]:
    """Every kind of output, by name: pairs of an id and what was said."""
    asked, where = questions(every), ["--index", str(index)]
    sample = asked[:: max(1, len(asked) // SAMPLE)]
    quoting = [*where, "--llm", "extractive"]
    attempts = [
        {"id": row["id"], "question": row["question_id"], "answer": row["attempt"]}
        for row in _lines(DATA / "attempts.jsonl")[::every]
    ]
    texts = [{"id": row["id"], "text": row["question"]} for row in asked]
    return {
        "ask": lambda: batch(["ask", *quoting, "--questions"], asked),
        "search": lambda: batch(["search", *where, "--queries"], texts),
        "grade": lambda: batch(["practice", "grade", *where, "--attempts"], attempts),
        "inspect": lambda: _inspected(quoting, sample[::2]),
        "http": lambda: _over_http(quoting, sample),
        "mcp": lambda: _over_mcp(quoting, sample),
        "passages": lambda: _passages(index),
    }


def _inspected(options: list[str], rows: list[Row]) -> Iterator[tuple[str, Any]]:
    for row in rows:
        call = [sys.executable, "-m", "rag", "inspect", *options, "--json", row["question"]]
        said = subprocess.run(call, capture_output=True, text=True, encoding="utf-8", cwd=PROGRAM, check=True).stdout
        yield row["id"], without_times(json.loads(said))


def _over_http(options: list[str], rows: list[Row]) -> Iterator[tuple[str, Any]]:
    with serve(*options) as (address, _):
        for row in rows:
            messages = [*({"role": role, "content": text} for role, text in row["history"])]
            chat = {"model": "interview-rag", "messages": [*messages, {"role": "user", "content": row["question"]}]}
            yield f"{row['id']}/ask", _post(f"{address}/ask", {"question": row["question"]})
            yield f"{row['id']}/search", _post(f"{address}/search", {"query": row["question"]})
            yield f"{row['id']}/chat", _post(f"{address}/chat/completions", chat)


def _over_mcp(options: list[str], rows: list[Row]) -> Iterator[tuple[str, Any]]:
    command = [sys.executable, "-m", "rag", "mcp", "--http", "--port", "0", *options]
    with running(command, folder=PROGRAM) as server:
        for number, row in enumerate(rows):
            call = {"name": "ask", "arguments": {"question": row["question"]}}
            body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            yield row["id"], _post(server.address, body)


def _post(address: str, body: Row) -> Any:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=600) as reply:
        said = reply.read().decode()
    return without_times(json.loads(said.partition("data: ")[2] if said.startswith("event:") else said))


def _passages(index: Path) -> Iterator[tuple[str, Any]]:
    storage = open_index(index).storage
    for document in storage.documents():
        for passage in storage.passages(list(dict.fromkeys(storage.document_numbers(document.name)))):
            key = f"{document.name}/{passage.start}-{passage.end}/{passage.number}"
            yield key, [passage.title, list(passage.section), passage.text, [list(s) for s in passage.content.spans]]


def record(folder: Path, index: Path, every: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, output in bar(list(outputs(index, every).items()), "outputs"):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for key, value in output():
                file.write(json.dumps([key, value], ensure_ascii=False, sort_keys=True) + "\n")


def compare(before: Path, after: Path) -> int:
    """How many outputs differ; each kind is counted on standard output, with the first that do."""
    total = 0
    for file in sorted(before.glob("*.jsonl")):
        old, new = (
            dict(map(json.loads, path.read_text(encoding="utf-8").splitlines())) for path in (file, after / file.name)
        )
        differ = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        sys.stdout.write(f"{file.stem}: {len(old)} before, {len(new)} after, {len(differ)} differ\n")
        for key in itertools.islice(differ, SHOWN):
            sys.stdout.write(f"  {key}\n    - {_short(old.get(key))}\n    + {_short(new.get(key))}\n")
        total += len(differ)
    return total


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:400]


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.same", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="ask, and keep what is said")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--index", type=Path, required=True, help="an index of corpus/")
    recording.add_argument("--every", type=int, default=1, help="of so many questions one is asked")
    comparing = commands.add_parser("compare", help="name what differs; exit code 1 where anything does")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    return parser


def main() -> int:
    options = build_parser().parse_args()
    if options.command == "compare":
        return int(compare(options.before, options.after) > 0)
    record(options.folder, options.index.resolve(), options.every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
