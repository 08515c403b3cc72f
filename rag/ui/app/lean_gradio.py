"""Gradio without what the page does not need and half of its import time goes to: the type stubs for editors that every
import rewrites beside its own components, and what its MCP server is made of."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

WRITER, WRITES = "gradio.component_meta", "create_or_modify_pyi"
SERVER, MADE_OF = "gradio.mcp", "mcp"


class _WithoutStubs(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        setattr(module, WRITES, lambda *_: None)


class _WithoutServer(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """As if the package that the server is made of were not installed, unless it is loaded already."""
        sys.modules.setdefault(MADE_OF, None)  # type: ignore[arg-type]  # its import fails
        super().exec_module(module)
        if sys.modules[MADE_OF] is None:
            del sys.modules[MADE_OF]


LOADERS = {WRITER: _WithoutStubs, SERVER: _WithoutServer}


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in LOADERS else None
        if spec is not None and spec.origin:
            spec.loader = LOADERS[name](name, spec.origin)
        return spec


def lighten_gradio() -> None:
    """Call it before Gradio is imported."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
