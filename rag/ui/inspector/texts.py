"""The strings of the inspector, in Chinese and English."""

from dataclasses import dataclass

from rag.ui.texts import Language


@dataclass(frozen=True, slots=True)
class InspectorTexts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    tab: str
    heading: str
    intro: str
    asked: str
    asked_hint: str
    typed: str
    question: str
    earlier: str
    earlier_hint: str
    inspect: str
    download: str
    standalone: str
    searched: str
    ranking: str
    ranking_hint: str
    side: str
    rank: str
    dense: str
    keyword: str
    cosine: str
    share: str
    likeness: str
    fused: str
    passage: str
    fate: str
    used: str
    not_used: str
    other_page: str
    not_answered: str
    cut_by_sides: str
    cut_below_top_k: str
    nothing: str
    judgement: str
    answered: str
    nearest: str
    refused: str
    reason_nothing_relevant: str
    reason_missing_terms: str
    odds: str
    no_calibration: str
    feature_match: str
    feature_lead: str
    feature_unknown_name: str
    feature_unknown_word: str
    feature_unknown_capital: str
    feature_uncovered: str
    feature_chinese: str
    names: str
    missing: str
    unheard: str
    reading: str
    quoted: str
    given: str
    nothing_chosen: str
    no_prompt: str
    prompt: str
    prompt_hint: str
    role_system: str
    role_human: str
    times: str
    step_resolve: str
    step_search: str
    step_decide: str
    step_rank: str
    step_explore: str
    step_select: str
    step_total: str
    failed: str


TEXTS = {
    Language.ZH: InspectorTexts(
        tab="检索过程",
        heading="一个问题是怎么答的",
        intro="输入任意问题，或选一个对话里的问题，看看它怎样被检索、排序、取舍、判断，以及会把什么交给模型。"
        "不会真的作答。",
        asked="对话里的问题",
        asked_hint="连同它之前的对话一起查看",
        typed="（自己输入）",
        question="问题",
        earlier="上一个问题（可选）",
        earlier_hint="用来看追问怎样补全",
        inspect="查看过程",
        download="下载 JSON",
        standalone="补全后的问题",
        searched="实际检索的",
        ranking="排序",
        ranking_hint="两路共提出 {proposed} 个段落，列出前 {listed} 个；前 {top_k} 个进入作答。",
        side="对比的一边：{query}",
        rank="名次",
        dense="向量",
        keyword="关键词",
        cosine="余弦",
        share="词覆盖",
        likeness="逐词相似",
        fused="融合",
        passage="段落",
        fate="去向",
        used="采用",
        not_used="入选，同页别的段落更切题",
        other_page="入选，答案取自更切题的页面",
        not_answered="入选，但判断为拒答",
        cut_by_sides="合并几路检索后落选",
        cut_below_top_k="名次不够",
        nothing="没有找到任何段落。",
        judgement="能不能答",
        answered="判断：资料能回答",
        nearest="判断：可能答不了，只给最接近的资料",
        refused="判断：拒答（{reason}）",
        reason_nothing_relevant="没有找到相关内容",
        reason_missing_terms="资料里没有问到的名称",
        odds="没有答案的对数几率 {odds}，高于 {threshold} 则拒答；概率约 {probability}",
        no_calibration="这个向量模型没有校准过，只按相似度和名称判断。",
        feature_match="最佳段落的匹配度",
        feature_lead="比随机段落高出",
        feature_unknown_name="有未知的名称",
        feature_unknown_word="有未知的外文词",
        feature_unknown_capital="有未知的大写词",
        feature_uncovered="前几段没有覆盖的名称",
        feature_chinese="中文问题",
        names="问题里的名称：{names}",
        missing="资料里没有的：{names}",
        unheard="问题里的词资料里都没有出现过",
        reading="阅读模型认为小节里有答案的对数几率：{odds}",
        quoted="会摘录的段落",
        given="交给模型的段落",
        nothing_chosen="拒答时不摘引、也不交给模型任何段落。",
        no_prompt="现在逐句摘录原文，不用模型，所以没有提示词发出。",
        prompt="发给模型 {llm} 的提示词",
        prompt_hint="约 {tokens} 个 token",
        role_system="系统说明",
        role_human="问题和资料",
        times="耗时",
        step_resolve="补全问题",
        step_search="检索和排序",
        step_decide="判断能不能答",
        step_rank="给小节排序",
        step_explore="智能体查找",
        step_select="挑选段落",
        step_total="合计",
        failed="没有完成：{problem}",
    ),
    Language.EN: InspectorTexts(
        tab="Inspector",
        heading="How a question is answered",
        intro="Type any question, or choose one of the conversation, to see how it is searched, ranked, cut and "
        "judged, and what a model would be sent. Nothing is answered.",
        asked="A question of the conversation",
        asked_hint="with all that was said before it",
        typed="(type one)",
        question="Question",
        earlier="The question before it (optional)",
        earlier_hint="to see how a follow-up is completed",
        inspect="Inspect",
        download="Download JSON",
        standalone="Standalone question",
        searched="What is searched",
        ranking="Ranking",
        ranking_hint="{proposed} passages were proposed, {listed} are listed; the first {top_k} go on.",
        side="One side of the comparison: {query}",
        rank="Rank",
        dense="Dense",
        keyword="Keyword",
        cosine="Cosine",
        share="Terms",
        likeness="By token",
        fused="Fused",
        passage="Passage",
        fate="Outcome",
        used="used",
        not_used="kept; other paragraphs of its page answer better",
        other_page="kept; the answer is on a better page",
        not_answered="kept, but the question is refused",
        cut_by_sides="not among the best of all searches",
        cut_below_top_k="below the top",
        nothing="No passage was found.",
        judgement="Can it be answered?",
        answered="The material can answer it",
        nearest="Doubtful: only the nearest material is quoted",
        refused="Refused: {reason}",
        reason_nothing_relevant="nothing relevant was found",
        reason_missing_terms="the material lacks a name that was asked about",
        odds="Log odds against an answer {odds}, refused above {threshold}; a probability of about {probability}",
        no_calibration="This embedder has no calibration: only likeness and names decide.",
        feature_match="match of the best passage",
        feature_lead="lead over random passages",
        feature_unknown_name="an unknown name",
        feature_unknown_word="an unknown foreign word",
        feature_unknown_capital="an unknown capitalised word",
        feature_uncovered="a name that the first passages lack",
        feature_chinese="a question in Chinese",
        names="Names in the question: {names}",
        missing="Not in the material: {names}",
        unheard="Nothing that it names stands in the material",
        reading="Log odds of an answer in the sections, by the reader: {odds}",
        quoted="Paragraphs that would be quoted",
        given="Paragraphs that the model is given",
        nothing_chosen="A refusal quotes nothing and gives nothing to a model.",
        no_prompt="Answers are quotes now: no prompt is sent to any model.",
        prompt="The prompt for the model {llm}",
        prompt_hint="some {tokens} tokens",
        role_system="Instructions",
        role_human="Question and material",
        times="Time",
        step_resolve="standalone question",
        step_search="search and ranking",
        step_decide="judgement",
        step_rank="ranking of sections",
        step_explore="steps of the agent",
        step_select="choice of paragraphs",
        step_total="total",
        failed="Not done: {problem}",
    ),
}
