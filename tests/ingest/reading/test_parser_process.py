"""The child that parses untrusted files: what it cannot do, and what happens when it dies."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.formats.extract import UnreadableError
from ingest.reading.child import MEMORY_BYTES
from ingest.reading.parser_process import ParserProcess
from rag.paths import PROGRAM as HOUSE

PAGE = "<h1>标题</h1><p>正文。</p>".encode()


def confined(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that gave up what the parser gives up. It prints `refused` where an attempt fails."""
    program = (
        "import ctypes, os, socket, subprocess, sys\n"
        "from ingest.reading.confinement import confine, _leave_files, _code_folders\n"
        f"try:\n    {code}\n    print('done')\nexcept (OSError, MemoryError) as error:\n    print('refused', error)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(HOUSE)}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket()",
        "socket.getaddrinfo('localhost', 80)",
        "subprocess.run(['true'])",
        "os.fork()",
        "os.system('true')",
        "os.execv('/bin/true', ['true'])",
        "open('/etc/passwd')",
        "os.open('/etc/passwd', os.O_RDONLY)",
        "open('written-by-a-parser', 'w')",
        "open(os.__file__, 'a')",
        "open(os.path.join(os.path.dirname(os.__file__), '..', '..', '..', '..', '..', 'etc', 'passwd'))",
        "os.remove('written-by-a-parser')",
        "os.kill(os.getppid(), 0)",
        "ctypes.CDLL('libm.so.6')",
        "bytearray(2 << 30)",
    ],
)
def test_what_a_parser_cannot_do(attempt: str) -> None:
    result = confined(f"confine({MEMORY_BYTES}); {attempt}")
    assert result.stdout.startswith("refused"), result.stdout + result.stderr


def test_libraries_can_still_be_imported() -> None:
    result = confined(f"confine({MEMORY_BYTES}); import wave, encodings.big5")
    assert result.stdout == "done\n", result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is part of Linux")
def test_the_kernel_refuses_files_too() -> None:
    """Without the audit hook, which does not see what libraries in C do."""
    version = "ctypes.CDLL(None).syscall(444, None, 0, 1)"
    if int(confined(f"print({version})").stdout.split()[0]) < 1:
        pytest.skip("this kernel has no Landlock")
    code = "_leave_files([os.path.realpath(path) for path in _code_folders()]); "
    assert confined(code + "open(os.__file__)").stdout == "done\n"
    assert "Permission denied" in confined(code + "open('/etc/passwd')").stdout
    assert "Permission denied" in confined(code + "open(os.__file__, 'a')").stdout


def test_the_environment_stays_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_KEY", "secret")
    with ParserProcess() as parser:
        parser.extract(".html", PAGE)
        environment = Path(f"/proc/{parser.process_id}/environ")
        if not environment.exists():
            pytest.skip("this platform has no /proc")
        assert b"secret" not in environment.read_bytes()


def test_one_child_serves_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting one takes longer than most files."""
    with ParserProcess() as parser:
        parser.extract(".html", PAGE)
        first = parser.process_id
        monkeypatch.setattr(parser, "_start", lambda: pytest.fail("another child"))
        for _ in range(20):
            assert parser.extract(".html", PAGE).text == "# 标题\n\n正文。\n"
            assert parser.process_id == first


def test_a_child_that_dies_is_replaced() -> None:
    with ParserProcess() as parser:
        parser.extract(".html", PAGE)
        first = parser.process_id
        assert first is not None
        os.kill(first, signal.SIGKILL)
        with pytest.raises(UnreadableError, match=r"crashed or ran out of memory \(exit status -9\)"):
            parser.extract(".html", PAGE)
        assert parser.extract(".html", PAGE).text == "# 标题\n\n正文。\n"
        assert parser.process_id != first


def test_a_child_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    with ParserProcess() as parser:
        parser.extract(".html", PAGE)
        first = parser.process_id
        assert first is not None
        os.kill(first, signal.SIGSTOP)  # for ever
        with monkeypatch.context() as patch:
            patch.setattr(parser, "_seconds", 1)
            with pytest.raises(UnreadableError, match="stopped after 1 seconds"):
                parser.extract(".html", PAGE * 100_000)
        assert parser.process_id != first
        assert parser.extract(".html", PAGE).text


def test_too_much_work_is_stopped() -> None:
    with ParserProcess(seconds=1) as parser, pytest.raises(UnreadableError, match="stopped after 1 seconds"):
        parser.extract(".html", "".join(f"<p>{n} <b>{n}</b></p>" for n in range(300_000)).encode())


def test_closing_ends_the_child() -> None:
    with ParserProcess() as parser:
        parser.extract(".html", PAGE)
        child = parser.process_id
    assert child is not None
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from ingest.reading.registry import reader

    monkeypatch.setitem(sys.modules, "ingest.formats.word", None)
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(UnreadableError, match=r"\.docx files need .*it is in the extra `formats`") as caught:
        reader(".docx")
    assert "interview-rag[formats]" in caught.value.hint


@pytest.mark.parametrize("answer", [b"", b"no JSON", b"[]", b'{"text": 1}', b"[" * 100_000, b'{"error": "x"}'])
def test_an_answer_that_is_none_fails_the_file_alone(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with ParserProcess() as parser:
        with monkeypatch.context() as patch:
            patch.setattr(parser, "_ask", lambda suffix, data: answer)
            with pytest.raises(UnreadableError, match="an invalid reply"):
                parser.extract(".csv", b"a,b\n1,2\n")
        assert "1" in parser.extract(".csv", b"a,b\n1,2\n").text
