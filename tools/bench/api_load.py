"""An answer in this process and over HTTP, in turns; and many streams at once."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import openai

from rag.answer.assistant import Assistant
from rag.settings import ChatModelName, load_settings
from tools.api_process import serve
from tools.bench.measuring import machine, median, spread
from tools.bench.ui_load import gold_questions

# What the API may add to the median answer, in milliseconds.
ADDED = 10.0
PATIENCE = 120.0


def measure(index: Path, *, questions: int, streams: int) -> dict[str, Any]:
    asked = gold_questions()[:questions]
    settings = load_settings(options={"index": index, "llm": ChatModelName.EXTRACTIVE})
    assistant = Assistant.open(settings)
    before = machine()
    with serve("--index", str(index), "--llm", "extractive") as (address, _):
        taken = in_turns(assistant, address, asked)
        together = asyncio.run(at_once(address, asked, streams))
    ways = {way: spread(times) for way, times in taken.items() if way != "inside"}
    beside = [whole - inside for whole, inside in zip(taken["api"], taken["inside"], strict=True)]
    added = median(taken["api"]) - median(taken["in process"])
    return {
        "machine": before,
        "questions": len(asked),
        "milliseconds": ways,
        "api_adds_to_the_median": round(added, 2),
        "api_beside_its_own_pipeline": spread(beside),
        "streams": together,
        "met": added <= ADDED and not together["errors"],
    }


def in_turns(assistant: Assistant, address: str, questions: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each question, asked in this process and over HTTP one after the other, the order changing;
    `inside` is what the server's pipeline says it took of `api`."""
    taken: dict[str, list[float]] = {"in process": [], "api": [], "inside": [], "streamed, first byte": []}
    with httpx.Client(trust_env=False, timeout=PATIENCE) as client:

        def in_process(question: str) -> None:
            started = time.perf_counter()
            assistant.ask(question)
            taken["in process"].append((time.perf_counter() - started) * 1_000)

        def over_http(question: str) -> None:
            started = time.perf_counter()
            answer = client.post(f"{address}/chat/completions", json=body_of(question)).raise_for_status().json()
            taken["api"].append((time.perf_counter() - started) * 1_000)
            taken["inside"].append(answer["interview_rag"]["seconds"]["total"] * 1_000)

        def streamed(question: str) -> None:
            started = time.perf_counter()
            body = {**body_of(question), "stream": True}
            with client.stream("POST", f"{address}/chat/completions", json=body) as response:
                for line in response.iter_lines():
                    if '"content":"' in line and '"content":""' not in line:
                        break
            taken["streamed, first byte"].append((time.perf_counter() - started) * 1_000)

        for warm in questions[:3]:
            assistant.ask(warm)
            over_http(warm)
        for times in taken.values():
            times.clear()
        for number, question in enumerate(questions):
            for way in (in_process, over_http) if number % 2 else (over_http, in_process):
                way(question)
            streamed(question)
    return taken


def body_of(question: str) -> dict[str, Any]:
    return {"model": "interview-rag", "messages": [{"role": "user", "content": question}]}


async def at_once(address: str, questions: Sequence[str], count: int) -> dict[str, Any]:
    """Streams that all begin at the same moment: seconds to their end, and what went wrong."""
    async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0, timeout=PATIENCE) as client:

        async def one(question: str) -> float | str:
            started = time.perf_counter()
            try:
                stream = await client.chat.completions.create(**body_of(question), stream=True)
                chunks = [chunk async for chunk in stream]
            except openai.OpenAIError as error:
                return f"{type(error).__name__}: {error}"
            done = chunks[-1].choices[0].finish_reason == "stop"
            return time.perf_counter() - started if done else f"no end: {chunks[-1]}"

        outcomes = await asyncio.gather(*(one(questions[number % len(questions)]) for number in range(count)))
    seconds = [outcome for outcome in outcomes if isinstance(outcome, float)]
    errors = [outcome for outcome in outcomes if isinstance(outcome, str)]
    return {"count": count, "errors": errors, "seconds": spread(seconds) if seconds else {}}
