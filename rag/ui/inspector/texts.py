"""The strings of the inspector, in Chinese and English."""

from dataclasses import dataclass

from rag.ui.texts import Language


@dataclass(frozen=True, slots=True)
class InspectorTexts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    tab: str
    heading: str
    intro: str
    question: str
    earlier: str
    earlier_hint: str
    inspect: str
    download: str
    standalone: str
    searched: str
    ranking: str
    ranking_hint: str
    rank: str
    dense: str
    keyword: str
    cosine: str
    share: str
    likeness: str
    fused: str
    voted: str
    passage: str
    fate: str
    used: str
    not_used: str
    cut_by_votes: str
    cut_below_top_k: str
    nothing: str
    judgement: str
    answered: str
    refused: str
    odds: str
    no_calibration: str
    names: str
    missing: str
    quoted: str
    given: str
    prompt: str
    prompt_hint: str
    times: str
    failed: str


TEXTS = {
    Language.ZH: InspectorTexts(
        tab="透视",
        heading="一个问题是怎么答的",
        intro="输入任意问题，看看它怎样被检索、排序、取舍、判断，以及会把什么交给模型。不会真的作答。",
        question="问题",
        earlier="上一个问题（可选）",
        earlier_hint="用来看追问怎样补全",
        inspect="透视",
        download="下载 JSON",
        standalone="独立的问题",
        searched="实际检索的",
        ranking="排序",
        ranking_hint="两路共提出 {proposed} 个段落，列出前 {listed} 个；前 {top_k} 个进入作答。",
        rank="名次",
        dense="向量",
        keyword="关键词",
        cosine="余弦",
        share="词覆盖",
        likeness="逐词相似",
        fused="融合",
        voted="投票后",
        passage="段落",
        fate="去向",
        used="采用",
        not_used="入选，超出篇幅",
        cut_by_votes="被投票挤出",
        cut_below_top_k="名次不够",
        nothing="没有找到任何段落。",
        judgement="能不能答",
        answered="判断：资料能回答",
        refused="判断：拒答（{reason}）",
        odds="没有答案的对数几率 {odds}，高于 {threshold} 则拒答；概率约 {probability}",
        no_calibration="这个向量模型没有校准过，只按相似度和名称判断。",
        names="问题里的名称：{names}",
        missing="资料里没有的：{names}",
        quoted="会摘引的段落",
        given="交给模型的段落",
        prompt="发给模型 {llm} 的提示词",
        prompt_hint="约 {tokens} 个 token",
        times="耗时",
        failed="没有完成：{problem}",
    ),
    Language.EN: InspectorTexts(
        tab="Inspector",
        heading="How a question is answered",
        intro="Type any question to see how it is searched, ranked, cut and judged, and what a model would be sent. "
        "Nothing is answered.",
        question="Question",
        earlier="The question before it (optional)",
        earlier_hint="to see how a follow-up is completed",
        inspect="Inspect",
        download="Download JSON",
        standalone="The question that stands alone",
        searched="What is searched",
        ranking="Ranking",
        ranking_hint="{proposed} passages were proposed, {listed} are listed; the first {top_k} go on.",
        rank="Rank",
        dense="Dense",
        keyword="Keyword",
        cosine="Cosine",
        share="Terms",
        likeness="By token",
        fused="Fused",
        voted="Voted",
        passage="Passage",
        fate="Outcome",
        used="used",
        not_used="kept, no room",
        cut_by_votes="cut by votes",
        cut_below_top_k="below the top",
        nothing="No passage was found.",
        judgement="Can it be answered?",
        answered="The material can answer it",
        refused="Refused: {reason}",
        odds="Log odds against an answer {odds}, refused above {threshold}; a probability of about {probability}",
        no_calibration="This embedder has no calibration: only likeness and names decide.",
        names="Names in the question: {names}",
        missing="Not in the material: {names}",
        quoted="Paragraphs that would be quoted",
        given="Paragraphs that the model is given",
        prompt="The prompt for the model {llm}",
        prompt_hint="some {tokens} tokens",
        times="Time",
        failed="Not done: {problem}",
    ),
}
