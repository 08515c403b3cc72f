"""Calls through the SDK's own client."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp import Client
from mcp.types import CallToolResult, TextContent, TextResourceContents

T = TypeVar("T")


def with_client(server: Any, work: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """What `work` gives of a connected client. A server is connected in this process."""

    async def run() -> T:
        async with Client(server, mode=mode) as client:
            return await work(client)

    return asyncio.run(run())


def call(server: Any, name: str, arguments: dict[str, Any]) -> CallToolResult:
    return with_client(server, lambda client: client.call_tool(name, arguments))


def values(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def read(client: Client, uri: str) -> str:
    [contents] = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    return contents.text


def everything(result: CallToolResult) -> str:
    """All that a client is given."""
    return json.dumps(result.model_dump(mode="json"), ensure_ascii=False)
