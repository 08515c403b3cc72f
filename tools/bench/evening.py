"""python -m tools.bench.evening: a long conversation in a real browser, opening it again, and an idle page."""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import CDPSession, Page

from rag.cli import Parser, run
from tools.bench.measuring import machine, median
from tools.bench.ui_load import gold_questions
from tools.browser import open_browser, open_page, serve

# What the page promises: the turn after a long conversation against a first one, seconds to open such a conversation,
# how far things jump while it loads, and the part of a core that an idle page takes, its server included.
SLOWER, OPENED, SHIFTED, IDLE = 1.25, 1.0, 0.1, 0.01
# Questions that are asked in new conversations and after a long one.
COMPARED = 5

# Before the page's own scripts: layout shifts as Web Vitals counts them (the worst five seconds, without those that
# follow an input), and when the last question was sent, had its first words, and was answered.
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push([entry.startTime, entry.value]);
}).observe({ type: "layout-shift", buffered: true });
const last = () => [...document.querySelectorAll("#chat .tool.edit")].at(-1)?.className;
window.timed = () => {
  const [started, before] = [performance.now(), last()]; // rows cannot be counted: a page shows the last ones only
  const times = {};
  return new Promise((resolve) => {
    const look = () => {
      const row = last() !== before && [...document.querySelectorAll("#chat .bot-row")].at(-1);
      const text = row && row.querySelector("a[href^='#cite-'], .notice, .note");
      if (text) times.first ??= performance.now() - started;
      const isDone = text && row.querySelector(".tool.retry") && document.querySelector("#send");
      if (!isDone) return setTimeout(look, 8);
      requestAnimationFrame(() => resolve({ ...times, last: performance.now() - started }));
    };
    look();
  });
};
"""


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.bench.evening", description="Chat for a long evening in one tab.")
    parser.add_argument("--index", type=Path, default=".interview-rag/index", help="index of corpus/")
    parser.add_argument("--turns", type=int, default=30, help="length of the long conversation (default 30)")
    parser.add_argument("--idle", type=float, default=300, help="seconds that nobody does anything (default 300)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the JSON goes as well")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_measure, build_parser(), arguments)


def _measure(options: argparse.Namespace) -> int:
    questions = gold_questions()[: options.turns + COMPARED]
    compared, talk = questions[:COMPARED], questions[COMPARED:]
    with serve("--index", str(options.index.resolve()), "--llm", "extractive") as address, open_browser() as browser:
        page = open_page(browser, address, before=WATCH)
        page.wait_for_timeout(3_000)
        shifted = worst_window(page.evaluate("window.shifts"))
        network = watch_network(page)
        ask(page, network, talk[0])  # what is loaded at the first question
        alone = [in_new_conversation(page, network, question) for question in compared]
        page.click("#clear")
        page.wait_for_selector("#chat .user-row", state="detached")
        for question in talk:
            ask(page, network, question)
        after = [ask(page, network, question) for question in compared]
        opened = reopen(page)
        core = idle_core(options.idle)
    first, last = figures(alone), figures(after)
    slower = round(last["last_text_seconds"] / first["last_text_seconds"], 2)
    met = slower <= SLOWER and opened <= OPENED and shifted <= SHIFTED and core <= IDLE
    result = {
        "machine": machine(),
        "turns": len(talk),
        "new_conversation": first,
        "after_the_turns": last,
        "slower": slower,
        "opened_seconds": opened,
        "layout_shift": shifted,
        "idle_core": core,
        "met": met,
    }
    sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    if options.out:
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0 if met else 1


def watch_network(page: Page) -> CDPSession:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Performance.enable")
    received["bytes"] = 0
    session.on("Network.dataReceived", lambda event: received.update(bytes=received["bytes"] + event["dataLength"]))
    return session


received: defaultdict[str, int] = defaultdict(int)


def in_new_conversation(page: Page, network: CDPSession, question: str) -> dict[str, float]:
    page.click("#clear")
    page.wait_for_selector("#chat .user-row", state="detached")
    return ask(page, network, question)


def ask(page: Page, network: CDPSession, question: str) -> dict[str, float]:
    """Seconds to the first and the last text of an answer, bytes that came, and seconds of the page's main thread."""
    page.fill("#question textarea", question)
    before, busy = received["bytes"], main_thread(network)
    page.evaluate("void (window.asked = window.timed())")
    page.press("#question textarea", "Enter")
    times = page.evaluate("window.asked")
    page.wait_for_timeout(700)  # what is drawn late
    return {
        "first_text_seconds": times["first"] / 1_000,
        "last_text_seconds": times["last"] / 1_000,
        "kilobytes": (received["bytes"] - before) / 1_000,
        "main_thread_seconds": main_thread(network) - busy,
    }


def figures(asked: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(median(one[name] for one in asked), 3) for name in asked[0]}


def main_thread(network: CDPSession) -> float:
    metrics = {each["name"]: each["value"] for each in network.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def reopen(page: Page) -> float:
    """Seconds from a click on the conversation to its last answer, while a new one is shown."""
    address = page.url.partition("#")[2]
    page.click("#clear")
    page.wait_for_selector("#chat .user-row", state="detached")
    page.wait_for_timeout(500)
    page.evaluate("void (window.asked = window.timed())")
    page.click(f".conversations .title[href='#{address}']")
    return round(float(page.evaluate("window.asked")["last"]) / 1_000, 3)


def worst_window(shifts: Sequence[tuple[float, float]]) -> float:
    """The cumulative layout shift: the largest sum within five seconds and without a second's pause."""
    worst = total = began = last = 0.0
    for at, value in shifts:
        if not total or at - last > 1_000 or at - began > 5_000:
            total, began = 0.0, at
        total, last = total + value, at
        worst = max(worst, total)
    return round(worst, 4)


def idle_core(seconds: float) -> float:
    """The part of a core that all processes started from here use together while nobody does anything (Linux)."""
    time.sleep(5)
    before, started = core_seconds(os.getpid()), time.monotonic()
    time.sleep(seconds)
    return round((core_seconds(os.getpid()) - before) / (time.monotonic() - started), 4)


def core_seconds(parent: int) -> float:
    stats = list(_stats())
    wanted = {parent}
    total = 0.0
    for process, above, used in sorted(stats):  # a child has a later number, until they begin anew
        if above in wanted:
            wanted.add(process)
            total += used
    return total


def _stats() -> Iterator[tuple[int, int, float]]:
    """Of every process its number, that of its parent, and the seconds of cores that it has used."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            yield int(folder.name), int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
