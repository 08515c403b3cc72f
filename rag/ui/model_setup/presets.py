"""Addresses of well-known OpenAI-compatible services, so that nobody needs to look them up."""

from dataclasses import dataclass

from rag.chat_models.ollama import OLLAMA_URL


@dataclass(frozen=True, slots=True)
class Preset:
    """`url` is the initial address, which the reader can change; empty if there is none."""

    name: str
    url: str


OTHER = "other"
PRESETS = {
    "deepseek": Preset("DeepSeek", "https://api.deepseek.com/v1"),
    "qwen": Preset("Qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    "openai": Preset("OpenAI", "https://api.openai.com/v1"),
    "ollama": Preset("Ollama", f"{OLLAMA_URL}/v1"),
    "lm_studio": Preset("LM Studio", "http://127.0.0.1:1234/v1"),
    "vllm": Preset("vLLM", "http://127.0.0.1:8000/v1"),
    OTHER: Preset("", ""),
}


def preset_of(url: str) -> str:
    """The name of the preset with this address; OTHER if there is none."""
    return next((name for name, preset in PRESETS.items() if preset.url == url), OTHER)
