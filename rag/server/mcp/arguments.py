"""Normalises clients' arguments: drops null, takes one string for a list of one, explains errors in plain words."""

from collections.abc import Mapping
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

# Errors reported per call.
MOST_TOLD = 5


class PlainServer(MCPServer):
    """An MCP server that reads arguments as clients mean them."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        schema = self._tool_input_schema(name) or {}
        try:
            return await super().call_tool(name, meant(arguments, schema.get("properties", {})), context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(f"Error executing tool {name}: {in_words(error.__cause__)} [usage]") from error.__cause__


def meant(arguments: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """
    >>> meant({"k": None, "only": "a.md", "query": "x"}, {"only": {"type": "array"}})
    {'only': ['a.md'], 'query': 'x'}
    """
    found = {}
    for name, value in arguments.items():
        is_list = properties.get(name, {}).get("type") == "array"
        if value is None or (is_list and value == ""):
            continue
        # Some clients send a list as a JSON string, which is parsed later.
        is_one = is_list and isinstance(value, str) and not value.lstrip().startswith("[")
        found[name] = [value] if is_one else value
    return found


def in_words(error: ValidationError) -> str:
    """Each argument's error, in sentences without the library's names and addresses."""
    said = []
    for one in error.errors()[:MOST_TOLD]:
        name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in one["loc"]).removeprefix(".")
        message = one["msg"].removesuffix(".")
        if one["type"] == "missing":
            said.append(f"`{name}` is missing")
        elif one["type"] in ("model_type", "dict_type"):
            said.append(f"`{name}` should be an object")
        elif message.startswith(("Input ", "String ", "List ")):
            said.append(f"`{name}` {message.partition(' ')[2]}")
        else:
            said.append(f"`{name}`: {message}")
    return "; ".join(said)
