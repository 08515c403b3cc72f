"""Folders that `rag.models.e5` writes: BERT, the mean over its tokens, unit length, and a tokenizer in one file.

`BertEmbedder` runs only these. sentence-transformers handles folders that state anything else.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MODULES = ("Transformer", "Pooling", "Normalize")
_SAID: dict[str, dict[str, object]] = {
    "config.json": {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "tokenizer_class": "PreTrainedTokenizerFast",
    },
    "sentence_bert_config.json": {"do_lower_case": False},
    "config_sentence_transformers.json": {"similarity_fn_name": "cosine"},
}


@dataclass(frozen=True, slots=True)
class BertFolder:
    """The configuration beside weights and tokenizer. `special` holds tokens by use, such as "cls"."""

    width: int
    heads: int
    epsilon: float
    max_tokens: int
    query_prompt: str
    passage_prompt: str
    special: dict[str, str]


def is_rebuilt(folder: Path) -> bool:
    """Whether `read_folder` can read it, and `BertEmbedder` does all that it says."""
    try:
        stated = {name: _json(folder / name) for name in (*_SAID, "1_Pooling/config.json", "modules.json")}
        width, prompts = stated["config.json"]["hidden_size"], stated["config_sentence_transformers.json"]["prompts"]
        modules = tuple(module["type"] for module in stated["modules.json"])
        return (
            all(stated[name].get(key) == value for name, said in _SAID.items() for key, value in said.items())
            and modules == tuple(f"sentence_transformers.models.{name}" for name in _MODULES)
            and stated["1_Pooling/config.json"] == {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True}
            and prompts.keys() == {"query", "document"}
            and all(isinstance(prompt, str) for prompt in prompts.values())
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # sentence-transformers says what is wrong with it


def read_folder(folder: Path) -> BertFolder:
    config, tokens = _json(folder / "config.json"), _json(folder / "tokenizer_config.json")
    prompts = _json(folder / "config_sentence_transformers.json")["prompts"]
    return BertFolder(
        width=int(config["hidden_size"]),
        heads=int(config["num_attention_heads"]),
        epsilon=float(config["layer_norm_eps"]),
        max_tokens=int(_json(folder / "sentence_bert_config.json")["max_seq_length"]),
        query_prompt=prompts["query"],
        passage_prompt=prompts["document"],
        special={name.removesuffix("_token"): token for name, token in tokens.items() if name.endswith("_token")},
    )


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
