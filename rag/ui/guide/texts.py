"""The strings of the first-run guide, in Chinese and English."""

from dataclasses import dataclass

from rag.ui.texts import Language


@dataclass(frozen=True, slots=True)
class GuideTexts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    heading: str
    intro: str
    embedder_missing: str
    index_missing: str
    index_damaged: str
    index_mismatch: str
    index_locked: str
    ingest_failed: str
    model_missing: str
    other: str
    step_run: str
    step_again: str
    again: str
    trying: str
    details: str
    hint: str
    preparing: str
    preparing_intro: str
    stage_start: str
    stage_fetch: str
    stage_load: str
    stage_documents: str
    stage_passages: str


TEXTS = {
    Language.ZH: GuideTexts(
        heading="还差一步就能用了",
        intro="程序已经启动，但缺了一样东西，暂时不能回答问题。",
        embedder_missing="没有检索用的向量模型，或者它不完整。第一次启动要下载它（约 91 MB），这次没有成功。",
        index_missing="还没有资料索引。",
        index_damaged="资料索引已损坏。",
        index_mismatch="资料索引是用另一个向量模型或另一个版本的程序建立的。",
        index_locked="另一个程序正在更新资料索引。",
        ingest_failed="资料没能编入索引。",
        model_missing="指定的聊天模型不能用。不用它也可以：去掉 --llm，答案会逐句摘录资料。",
        other="启动时出了问题。",
        step_run="在程序所在的文件夹里运行：",
        step_again="然后点下面的按钮。",
        again="重试",
        trying="正在重试，准备好后会自动打开…",
        details="技术细节",
        hint="提示：{hint}",
        preparing="正在准备，只有第一次需要",
        preparing_intro="准备好一部分资料后，这一页会自动换成聊天，其余资料边聊边读入。",
        stage_start="正在启动…",
        stage_fetch="正在下载向量模型：{done} / {total} MB",
        stage_load="正在载入向量模型…",
        stage_documents="正在阅读资料：{done} / {total}",
        stage_passages="正在编入索引：{done} / {total} 段",
    ),
    Language.EN: GuideTexts(
        heading="One step left",
        intro="The program runs, but something is missing, so it cannot answer yet.",
        embedder_missing="The embedder that searches is missing or incomplete. It is fetched at the first start (91 MB)"
        ", which failed this time.",
        index_missing="There is no index of documents yet.",
        index_damaged="The index of documents is damaged.",
        index_mismatch="The index was made with another embedder, or by another version of the program.",
        index_locked="Another program is updating the index.",
        ingest_failed="The documents could not be indexed.",
        model_missing="The chat model that was asked for cannot be used. Without --llm answers are quotes.",
        other="Something went wrong at the start.",
        step_run="In the folder of the program, run:",
        step_again="Then press the button below.",
        again="Try again",
        trying="Trying again; the page opens by itself when all is there…",
        details="Details",
        hint="Hint: {hint}",
        preparing="Getting ready, this once",
        preparing_intro="As soon as some documents are ready this page becomes the chat; the rest is read meanwhile.",
        stage_start="Starting…",
        stage_fetch="Fetching the embedder: {done} of {total} MB",
        stage_load="Loading the embedder…",
        stage_documents="Reading documents: {done} of {total}",
        stage_passages="Indexing passages: {done} of {total}",
    ),
}
