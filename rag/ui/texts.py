"""Every string of the interface, in Chinese and English."""

from dataclasses import dataclass
from enum import StrEnum


class Language(StrEnum):
    ZH = "zh"
    EN = "en"


@dataclass(frozen=True, slots=True)
class Texts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    tag: str  # of the language, for the page itself
    title: str
    subtitle: str
    chat_label: str
    question_label: str
    question_placeholder: str
    send: str
    stop: str
    retry: str
    clear: str
    language: str
    welcome: str
    follow: str
    follow_working: str
    follow_steps: str
    follow_same: str
    follow_done: str
    follow_added: str
    follow_changed: str
    follow_moved: str
    follow_removed: str
    follow_failed: str
    follow_problem: str
    footer_extractive: str
    footer_model: str
    footer_remote: str
    sources: str
    sources_of: str
    sources_empty: str
    sources_none: str
    sources_found: str
    sources_nearest: str
    sources_link: str
    sources_changed: str
    document: str
    close: str
    source_number: str
    searching: str
    loading: str
    writing: str
    stopped: str
    refused: str
    refused_missing: str
    refused_unsupported: str
    list_separator: str
    suggestions: str
    unsupported: str
    question_empty: str
    question_too_long: str
    index_missing: str
    index_damaged: str
    model_failed: str
    failed: str
    try_again: str


TEXTS = {
    Language.ZH: Texts(
        tag="zh-CN",
        title="大模型面试问答",
        subtitle="答案逐句摘自资料，点编号看原文",
        chat_label="对话",
        question_label="问题",
        question_placeholder="想问什么？按回车发送",
        send="发送",
        stop="停止",
        retry="重试上一问",
        clear="清空对话",
        language="界面语言",
        welcome="问一个面试题，或从下面挑一个",
        follow="自动更新资料",
        follow_working="正在查看资料…",
        follow_steps="正在更新资料 {done}/{total}",
        follow_same="{time} 资料没有变化",
        follow_done="{time} 已更新：{counts}",
        follow_added="新增 {count}",
        follow_changed="改动 {count}",
        follow_moved="移动 {count}",
        follow_removed="删除 {count}",
        follow_failed="失败 {count}",
        follow_problem="更新出了问题，仍用上次的索引作答：{problem}",
        footer_extractive="答案逐句摘自资料，问题不会离开这台机器。",
        footer_model="答案由本机模型 {model} 撰写，逐句对照资料核对。",
        footer_remote="答案由 {model} 撰写：问题和引用的资料会发送到 {host}。",
        sources="出处",
        sources_of="出处 · 第 {number} 问",
        sources_empty="答案的出处会显示在这里。点答案里的编号，就能看到原文中的那一句。",
        sources_none="这个回答没有引用资料。",
        sources_found="找到的资料，正在据此作答",
        sources_nearest="最接近的资料（不足以回答这个问题）",
        sources_link="查看 {count} 条出处",
        sources_changed="资料已更新，这里只显示当时的引文。",
        document="文件",
        close="关闭",
        source_number="出处 {number}",
        searching="正在查找资料…",
        loading="正在加载本机模型，第一次要等几秒；找到的资料在出处栏里…",
        writing="正在作答…",
        stopped="已停止，上面是停止前写出的部分。",
        refused="资料里没有能回答这个问题的内容。",
        refused_missing="资料里没有提到“{missing}”，所以无法依据资料回答。",
        refused_unsupported="资料里找不到能支持回答的原文。",
        list_separator="、",
        suggestions="资料能回答这些相近的问题：",
        unsupported="带 ⚠️ 的句子在资料里没有依据。",
        question_empty="请先输入一个问题。",
        question_too_long="问题有 {count} 个字符，最多 {limit} 个。问题还留在输入框里，请缩短后再发。",
        index_missing="找不到资料索引，它可能被移走或删除了。请运行 {command}，再重试。",
        index_damaged="资料索引已损坏或版本不符。请运行 {command} 重建，再重试。",
        model_failed="撰写答案的模型没有回应。请稍后重试。",
        failed="出了点问题，这一问没有答完。请重试；细节在启动程序的终端里。",
        try_again="之前的对话都还在。",
    ),
    Language.EN: Texts(
        tag="en",
        title="LLM interview Q&A",
        subtitle="Every sentence is quoted from the material: click a number to read it there",
        chat_label="Conversation",
        question_label="Question",
        question_placeholder="Ask a question; Enter sends",
        send="Send",
        stop="Stop",
        retry="Retry",
        clear="Clear",
        language="Language",
        welcome="Ask an interview question, or pick one",
        follow="Follow the documents",
        follow_working="Looking at the documents…",
        follow_steps="Updating {done}/{total}",
        follow_same="{time} no document has changed",
        follow_done="{time} updated: {counts}",
        follow_added="{count} added",
        follow_changed="{count} changed",
        follow_moved="{count} moved",
        follow_removed="{count} removed",
        follow_failed="{count} failed",
        follow_problem="The update failed; answers come from the last index: {problem}",
        footer_extractive="Answers are quoted from the material; questions never leave this machine.",
        footer_model="Answers are written by {model} on this machine and checked against the material.",
        footer_remote="Answers are written by {model}: questions and quoted material are sent to {host}.",
        sources="Sources",
        sources_of="Sources · question {number}",
        sources_empty="Sources appear here. Click a number in an answer to see that very sentence in its source.",
        sources_none="This answer quotes no source.",
        sources_found="Passages found; the answer is being written from them",
        sources_nearest="The nearest passages (they do not answer the question)",
        sources_link="See {count} sources",
        sources_changed="The material has changed since; only the quotes of that time are shown.",
        document="File",
        close="Close",
        source_number="source {number}",
        searching="Searching the material…",
        loading="Loading the model, which takes some seconds the first time; sources are shown already…",
        writing="Writing…",
        stopped="Stopped; what was written until then stands above.",
        refused="The material holds nothing that answers this question.",
        refused_missing="The material does not mention “{missing}”, so it cannot answer this.",
        refused_unsupported="Nothing in the material supports an answer.",
        list_separator=", ",
        suggestions="It does answer these related questions:",
        unsupported="Sentences marked ⚠️ have no support in the material.",
        question_empty="Type a question first.",
        question_too_long="The question has {count} characters; at most {limit} are allowed. It is still in the box: "
        "please shorten it.",
        index_missing="The index is gone: it may have been moved or deleted. Run {command}, then retry.",
        index_damaged="The index is damaged or of another version. Rebuild it with {command}, then retry.",
        model_failed="The model that writes answers did not respond. Please retry later.",
        failed="Something went wrong and this answer is not complete. Please retry; details are in the terminal.",
        try_again="The conversation so far is kept.",
    ),
}


def language_of(accept_language: str) -> Language:
    """The interface language for an Accept-Language header: Chinese for Chinese readers and where nothing is said.

    >>> language_of("en-GB,en;q=0.9,zh;q=0.8"), language_of("zh-TW"), language_of("")
    (<Language.EN: 'en'>, <Language.ZH: 'zh'>, <Language.ZH: 'zh'>)
    """
    first = accept_language.split(",")[0].strip().lower()
    return Language.ZH if not first or first.startswith(("zh", "*")) else Language.EN
