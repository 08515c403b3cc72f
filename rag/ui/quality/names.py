"""The names of datasets and systems for readers; files and the command line use short names."""

from rag.ui.texts import Language

ZH, EN = Language.ZH, Language.EN
# The dataset written for this program's own corpus.
OWN_SET = "gold"
SETS = {
    OWN_SET: {ZH: "本程序的标准题", EN: "This program's own questions"},
    "drcd_dev_hans2hant": {ZH: "繁体阅读理解 DRCD", EN: "DRCD, traditional Chinese"},
    "dureader_demo_doc": {ZH: "搜索问答 DuReader", EN: "DuReader, web search"},
    "interview_q2a": {ZH: "面试题找答案", EN: "Interview questions to answers"},
    "xquad_en_zh": {ZH: "英文问中文 XQuAD", EN: "XQuAD, English to Chinese"},
}
SPLITS = {"test": {ZH: "测试题", EN: "test questions"}, "dev": {ZH: "调试题", EN: "development questions"}}
SYSTEMS = {
    "ours": {ZH: "本程序", EN: "This program"},
    "dense": {ZH: "向量", EN: "Vectors"},
    "keyword": {ZH: "关键词 BM25", EN: "Keywords, BM25"},
    "rrf": {ZH: "倒数排名融合", EN: "Reciprocal rank fusion"},
    "langchain": {ZH: "LangChain", EN: "LangChain"},
    "langchain-chinese": {ZH: "LangChain，中文切分", EN: "LangChain, Chinese splits"},
    "langchain-bm25": {ZH: "LangChain BM25", EN: "LangChain BM25"},
    "langchain-bm25-jieba": {ZH: "LangChain BM25，jieba 分词", EN: "LangChain BM25, jieba"},
    "langchain-bm25-bigrams": {ZH: "LangChain BM25，二元组", EN: "LangChain BM25, bigrams"},
}
ANSWERERS = {
    "extractive": {ZH: "逐句摘引", EN: "Quotes"},
    "local": {ZH: "本机模型", EN: "Local model"},
    "endpoint": {ZH: "配置的接口", EN: "Endpoint"},
    "ollama": {ZH: "Ollama", EN: "Ollama"},
}


def system_name(system: str, language: Language) -> str:
    return SYSTEMS.get(system, {}).get(language, system)


def set_name(dataset: str, split: str, language: Language, *more: str) -> str:
    """
    >>> set_name("gold", "test", Language.EN), set_name("xquad_en_zh", "dev", Language.ZH, "e5")
    ("This program's own questions · test questions", '英文问中文 XQuAD · 调试题 · e5')
    """
    part = "" if split == "all" else SPLITS.get(split, {}).get(language, split)
    return " · ".join(filter(None, (SETS.get(dataset, {}).get(language, dataset), part, *more)))


def answerer_name(llm: str, model: str | None, language: Language) -> str:
    name = ANSWERERS.get(llm, {}).get(language, llm)
    return f"{name} ({model})" if model else name
