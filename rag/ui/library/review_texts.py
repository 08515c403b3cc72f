"""The strings of the review of the documents, in Chinese and English."""

from dataclasses import dataclass

from rag.ui.texts import Language


@dataclass(frozen=True, slots=True)
class ReviewTexts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    label: str
    hint: str
    start: str
    waiting: str
    documents: str
    vectors: str
    neighbours: str
    pairs: str
    failed: str
    summary: str
    outdated: str
    contradictions: str
    no_contradictions: str
    figure: str
    translation: str
    opposite: str
    time_bound: str
    ages: str
    checked: str
    updated: str
    undated: str
    more: str


TEXTS = {
    Language.ZH: ReviewTexts(
        label="检查资料",
        hint="找出互相矛盾的句子、会过时的句子，以及最久没有核对的资料。只比对文字，不判断谁对谁错；大资料库要半分钟左右。",
        start="开始检查",
        waiting="正在准备……",
        documents="正在读资料：{done} / {total}",
        vectors="正在看句子的意思：{done} / {total}",
        neighbours="正在找意思相近的句子：{done} / {total}",
        pairs="正在比对：{done} / {total}",
        failed="没有完成：{problem}",
        summary="第 {generation} 代索引，{documents} 篇资料，{statements} 句话。",
        outdated="资料在这次检查之后更新过，请重新检查。",
        contradictions="互相矛盾的句子",
        no_contradictions="没有发现互相矛盾的句子。",
        figure="数值不同",
        translation="中英文数值不同",
        opposite="说法相反",
        time_bound="会过时的句子",
        ages="资料的核对日期，最久的在前",
        checked="核对于",
        updated="更新于",
        undated="没有写日期",
        more="还有 {count} 条没有列出：python -m rag review",
    ),
    Language.EN: ReviewTexts(
        label="Review",
        hint="Finds sentences that contradict each other, sentences that grow old, and the documents checked longest "
        "ago. It compares texts and does not say which is right; a large library takes half a minute.",
        start="Start the review",
        waiting="Getting ready …",
        documents="Reading documents: {done} / {total}",
        vectors="Reading sentences: {done} / {total}",
        neighbours="Finding sentences that are alike: {done} / {total}",
        pairs="Comparing: {done} / {total}",
        failed="Not finished: {problem}",
        summary="Generation {generation} of the index, {documents} documents, {statements} sentences.",
        outdated="The documents have changed since; review them again.",
        contradictions="Sentences that contradict each other",
        no_contradictions="No sentences were found that contradict each other.",
        figure="different figures",
        translation="different figures in the two languages",
        opposite="one denies the other",
        time_bound="Sentences that grow old",
        ages="When documents were checked, oldest first",
        checked="checked",
        updated="updated",
        undated="no date",
        more="{count} more are not listed: python -m rag review",
    ),
}
