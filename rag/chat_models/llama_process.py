"""The child process of `rag.chat_models.local_server`: llama.cpp's OpenAI-compatible server on a loopback port.

Reads one JSON line {"model", "key", "context", "threads", "parent"} from stdin, writes {"address"} or {"failure"} at
the end of a line that contains REPORT, and ends when stdin does: only the parent holds its other end.
"""

import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any

REPORT = "interview-rag: "
SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>


def main() -> None:
    order = json.loads(sys.stdin.readline())
    _end_with(order["parent"])
    try:
        server = _serve(order)
    except Exception as error:  # reports any native error to the parent as text
        _report(failure=f"{type(error).__name__}: {error}")
        os._exit(1)
    _report(address=server.listening_address)
    threading.Event().wait()


def _end_with(parent: int) -> None:
    """End with the parent, even while the model loads, when our Python code cannot run."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the line above
            os._exit(0)

    def wait() -> None:
        sys.stdin.read()
        os._exit(0)  # not sys.exit: the native code would first finish the answers under way

    threading.Thread(target=wait, name="parent", daemon=True).start()


def _serve(order: dict[str, Any]) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = order["model"]
    parameters.api_keys = [order["key"]]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # any free one
    parameters.n_ctx = order["context"]
    # One question at a time: a second slot would halve the context and reread the system prompt.
    parameters.n_parallel = 1
    # It checks every second whether a reader has left, and stops between batches: 64 tokens take about a second.
    parameters.n_batch = parameters.n_ubatch = 64
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = order["threads"]
    parameters.offline = True
    parameters.ui = False
    parameters.cors_origins = ""
    parameters.cache_ram_mib = 0  # evidence seldom recurs; the last prompt stays in the slot anyway
    parameters.verbosity = 1  # errors
    return xllamacpp.Server(parameters)


def _report(**said: str) -> None:
    sys.stdout.write(REPORT + json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
