"""python -m tools.bench.ui_load: many chats with the page's server at the same time, and how soon it is painted."""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
from playwright.sync_api import Browser

from rag.cli import Parser, run
from rag.paths import PROGRAM
from tools.bench.measuring import machine
from tools.browser import open_browser, serve

# What the page promises: seconds that 95% of answers stay within, and to the first paint.
ANSWERED, PAINTED = 1.5, 2.0
PAINTS = 5
# A server that took this long has failed.
PATIENCE = 60.0


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.bench.ui_load", description="Chat with the page's server from many tabs.")
    parser.add_argument(
        "--index", type=Path, default=".interview-rag/index", help="index of corpus/; made where it is missing"
    )
    parser.add_argument("--chats", type=int, default=20, help="tabs that ask at the same time (default 20)")
    parser.add_argument("--questions", type=int, default=15, help="questions of each, one after the other (default 15)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the JSON goes as well")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_measure, build_parser(), arguments)


def _measure(options: argparse.Namespace) -> int:
    questions = gold_questions()
    with serve("--index", str(options.index.resolve()), "--llm", "extractive") as address:
        with open_browser() as browser:
            paints = [first_paint(browser, address) for _ in range(PAINTS)]
        asyncio.run(load(address, questions, chats=1, each=3))  # what is loaded at the first question
        alone = asyncio.run(load(address, questions, chats=1, each=options.questions))
        together = asyncio.run(load(address, questions, chats=options.chats, each=options.questions))
    result = {
        "machine": machine(),
        "first_paint_seconds": round(float(np.median(paints)), 3),
        "one_chat": alone,
        "chats": options.chats,
        "together": together,
    }
    met = together["errors"] == [] and together["p95"] <= ANSWERED and float(np.median(paints)) <= PAINTED
    result["met"] = met
    sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    if options.out:
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0 if met else 1


def gold_questions() -> list[str]:
    lines = (PROGRAM / "rag" / "evaluation" / "data" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    questions = [text for row in rows if isinstance(text := row.get("question") or row.get("text"), str)]
    random.Random(7).shuffle(questions)
    return questions


def first_paint(browser: Browser, address: str) -> float:
    """Seconds from asking for the page to its first content, with nothing in the browser's cache."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#question textarea")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    context.close()
    return float(paint) / 1_000


async def load(address: str, questions: Sequence[str], *, chats: int, each: int) -> dict[str, Any]:
    """Seconds from a question to its whole answer, over all chats; what went wrong; answers a second."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE, limits=limits, trust_env=False) as client:
        ask = await question_event(client)
        started = time.perf_counter()
        asked = [[questions[(chat * each + n) % len(questions)] for n in range(each)] for chat in range(chats)]
        outcomes = await asyncio.gather(*(chat(client, ask, mine) for mine in asked))
        lasted = time.perf_counter() - started
    seconds = [outcome for chat_outcomes in outcomes for outcome in chat_outcomes if isinstance(outcome, float)]
    errors = [outcome for chat_outcomes in outcomes for outcome in chat_outcomes if isinstance(outcome, str)]
    p50, p95, worst = np.percentile(seconds, [50, 95, 100]) if seconds else (float("inf"),) * 3
    return {
        "answers": len(seconds),
        "errors": errors,
        "p50": round(float(p50), 3),
        "p95": round(float(p95), 3),
        "max": round(float(worst), 3),
        "answers_a_second": round(len(seconds) / lasted, 1),
    }


async def question_event(client: httpx.AsyncClient) -> int:
    """The number of the event with which a question is sent."""
    config = (await client.get("config")).json()
    boxes = {part["id"] for part in config["components"] if part["props"].get("elem_id") == "sources"}
    return next(
        int(event["id"])
        for event in config["dependencies"]
        if any(target[0] in boxes and target[1] == "submit" for target in event["targets"])
    )


async def chat(client: httpx.AsyncClient, event: int, questions: Sequence[str]) -> list[float | str]:
    """Seconds to each answer of one tab, or what went wrong."""
    session = uuid4().hex
    outcomes: list[float | str] = []
    async with client.stream("GET", f"gradio_api/heartbeat/{session}"):
        for question in questions:
            started = time.perf_counter()
            try:
                problem = await answered(client, session, event, question)
            except httpx.HTTPError as error:
                problem = f"{type(error).__name__}: {error}"
            outcomes.append(problem or time.perf_counter() - started)
    return outcomes


async def answered(client: httpx.AsyncClient, session: str, event: int, question: str) -> str | None:
    """Ask, and read until the answer is whole; what went wrong."""
    send = {"action": "send", "number": 0, "rest": question}
    body = {"data": [None], "event_data": send, "fn_index": event, "session_hash": session}
    joined = await client.post("gradio_api/queue/join", json=body)
    if joined.status_code != 200:
        return f"{joined.status_code} {joined.text}"
    cited = False
    async with client.stream("GET", "gradio_api/queue/data", params={"session_hash": session}) as stream:
        async for line in stream.aiter_lines():
            cited = cited or "#cite-" in line or "notice refusal" in line
            if '"msg":"process_completed"' in line:
                said = json.loads(line.removeprefix("data: "))
                cited = cited or "#cite-" in line
                return None if said["success"] and cited else f"no answer to {question!r}: {line[:500]}"
    return f"the stream ended before the answer to {question!r}"


if __name__ == "__main__":
    sys.exit(main())
