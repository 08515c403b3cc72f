"""Bring the locks in line with pyproject.toml: python -m tools.lock [--upgrade] (needs uv).

Versions stay as they are where they still fit; with --upgrade all are chosen anew.

torch is held at one version, and its CUDA packages are left out: torch itself asks for those it needs, and a CPU build
needs none.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TORCH = "torch==2.13.0"
LEFT_OUT = re.compile(r"^(nvidia-|cuda-|triton\b)")
LOCKS = {
    "requirements.lock": ("--extra", "formats"),
    "requirements-dev.lock": (
        *("--extra", "ocr"),
        *("--extra", "local"),
        *("--extra", "milvus"),
        *("--extra", "ray"),
        *("--extra", "tracing"),
        *("--extra", "formats"),
        *("--extra", "test"),
        *("--extra", "check"),
        *("--extra", "evaluation"),
    ),
}


def main() -> int:
    for name, extras in LOCKS.items():
        with tempfile.TemporaryDirectory() as folder:
            constraint = Path(folder, "constraint.txt")
            constraint.write_text(f"{TORCH}\n", encoding="ascii")
            chosen = Path(folder, "chosen.txt")
            chosen.write_text(Path(name).read_text(encoding="utf-8"), encoding="utf-8")
            command = [sys.executable, "-m", "uv", "pip", "compile", "-q", "pyproject.toml", *extras, "--universal"]
            options = ["--python-version", "3.11", "-c", str(constraint), "--no-annotate", "--no-header"]
            subprocess.run([*command, *options, *sys.argv[1:], "-o", str(chosen)], check=True)
            lines = [line for line in chosen.read_text(encoding="utf-8").splitlines() if not LEFT_OUT.match(line)]
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
