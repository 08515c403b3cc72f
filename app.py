"""Opens the web UI: python app.py"""

import sys

from rag.cli import Parser, run
from rag.ui.app.open_page import DESCRIPTION, add_options, open_page


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="python app.py", description=DESCRIPTION)
    add_options(parser)
    return run(open_page, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
