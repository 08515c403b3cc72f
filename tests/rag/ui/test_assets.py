"""The scripts of the browser are joined into one: what one of them calls something, no other may."""

import re
from collections import Counter

from rag.ui.assets import SCRIPTS, read_asset

DEFINED = re.compile(r"^(?:async )?(?:function|const|let) (\w+)", re.MULTILINE)


def test_every_name_is_defined_once() -> None:
    names = Counter(name for script in SCRIPTS for name in DEFINED.findall(read_asset(f"browser/{script}.js")))
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []
