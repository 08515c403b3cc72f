"""The strings of the settings, in Chinese and English."""

from dataclasses import dataclass

from rag.ui.texts import Language


@dataclass(frozen=True, slots=True)
class PreferencesTexts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    tab: str
    heading: str
    intro: str
    llm: str
    llm_auto: str
    llm_extractive: str
    llm_local: str
    llm_ollama: str
    llm_endpoint: str
    unusable: str
    can_write: str
    cannot_write: str
    way_local: str
    way_package: str
    way_ollama: str
    way_endpoint: str
    way_owner: str
    style: str
    style_short: str
    style_standard: str
    style_deep: str
    caution: str
    caution_hint: str
    caution_bold: str
    caution_balanced: str
    caution_cautious: str
    only_supported: str
    top_k: str
    top_k_hint: str
    theme: str
    theme_system: str
    theme_light: str
    theme_dark: str
    language_hint: str
    saved: str
    reset: str
    where: str
    where_what: str
    where_runs: str
    here: str
    browser: str
    part_documents: str
    part_search: str
    part_answers: str
    part_conversation: str
    part_choices: str
    answers_quotes: str
    answers_here: str
    answers_remote: str
    test: str
    test_hint: str
    testing: str
    test_done: str
    test_failed: str
    test_nothing: str
    test_key: str
    test_forbidden: str
    test_not_found: str
    test_busy: str
    test_broken: str
    test_timeout: str
    test_connection: str
    test_tls: str
    test_host: str
    test_redirect: str
    test_not_openai: str
    test_other: str
    test_details: str


TEXTS = {
    Language.ZH: PreferencesTexts(
        tab="设置",
        heading="设置",
        intro="你的选择只保存在这个浏览器里。",
        llm="由谁撰写答案",
        llm_auto="自动（按程序的设置）",
        llm_extractive="逐句摘录原文",
        llm_local="本机模型",
        llm_ollama="Ollama",
        llm_endpoint="设置的接口",
        can_write="可用",
        cannot_write="不可用",
        unusable="{name}现在不能用。{way}（细节：{problem}）",
        way_local="模型还没有下载，在下面可以下载。",
        way_package="缺少运行它的软件包，请运行：{command}",
        way_ollama="Ollama 没有运行，或者没有对话模型：请启动它，并用 ollama pull 下载一个。",
        way_endpoint="还没有设置接口，在下面可以设置。",
        way_owner="还没有设置好；有权修改资料的人可以在这一页设置。",
        style="答案长短",
        style_short="30 秒：一两句要点",
        style_standard="2 分钟：常规回答",
        style_deep="深入：细节、数字、取舍",
        caution="什么时候拒答",
        caution_hint="资料看起来不足以回答时，是宁可少答，还是尽量回答",
        caution_bold="尽量回答",
        caution_balanced="适中",
        caution_cautious="宁缺毋滥",
        only_supported="模型写的句子如果没有资料支持，直接删去（不勾选：保留并标 ⚠️）",
        top_k="检索的段落数",
        top_k_hint="每个问题取前几个段落作答",
        theme="外观",
        theme_system="跟随系统",
        theme_light="浅色",
        theme_dark="深色",
        language_hint="界面语言在页面右上角切换。",
        saved="已保存",
        reset="恢复默认",
        where="什么在哪里运行",
        where_what="部分",
        where_runs="在哪里",
        here="这台机器（运行程序的机器）",
        browser="你的浏览器",
        part_documents="资料和索引",
        part_search="检索（{embedder}）",
        part_answers="撰写答案",
        part_conversation="对话",
        part_choices="这一页的设置",
        answers_quotes="这台机器，逐句摘录，没有模型",
        answers_here="这台机器，模型 {model}",
        answers_remote="{host}，模型 {model}：问题和引用的资料会发送过去",
        test="测试模型",
        test_hint="给选中的模型发一个很短的问题，看它多久回答。",
        testing="正在测试…",
        test_done="正常：{model} 在 {seconds} 秒后回答了。",
        test_failed="没有成功：{problem}",
        test_nothing="现在逐句摘录原文，没有模型可以测试。",
        test_key="密钥被拒（{code}）。请检查密钥。",
        test_forbidden="没有使用权限（{code}）。请检查密钥的权限和余额。",
        test_not_found="地址或模型名不对（{code}）。请检查地址和模型名。",
        test_busy="请求太多或额度用完（{code}）。请稍后再试。",
        test_broken="接口自己出了错（{code}）。请稍后再试。",
        test_timeout="等了太久没有回答。",
        test_connection="连不上。请检查地址，以及它是否已经启动。",
        test_tls="加密连接没有建立：证书不被信任，或者这个地址不是 https。",
        test_host="找不到这个主机名。请检查地址。",
        test_redirect="这个地址转到了别处（{code}）。请填写最终的地址；密钥没有发送过去。",
        test_not_openai="这个地址的回答不是 OpenAI 的格式。请检查地址，一般以 /v1 结尾。",
        test_other="没有得到可用的回答。",
        test_details="细节",
    ),
    Language.EN: PreferencesTexts(
        tab="Settings",
        heading="Settings",
        intro="Your choices are saved in this browser only.",
        llm="Who writes the answers",
        llm_auto="Automatic (as the program is set)",
        llm_extractive="Quotes, sentence by sentence",
        llm_local="A model on this machine",
        llm_ollama="Ollama",
        llm_endpoint="The endpoint that was set up",
        can_write="usable",
        cannot_write="not usable",
        unusable="{name} cannot be used now. {way} (Details: {problem})",
        way_local="The model is not downloaded yet; that can be done below.",
        way_package="A package that runs it is missing. Run: {command}",
        way_ollama="Ollama does not run, or has no chat model: start it, and fetch one with ollama pull.",
        way_endpoint="No endpoint is set up yet; that can be done below.",
        way_owner="Not set up yet; whoever may change documents can do it on this page.",
        style="Answer length",
        style_short="30 seconds: the gist",
        style_standard="2 minutes: an ordinary answer",
        style_deep="Deep: details, numbers, trade-offs",
        caution="When to refuse",
        caution_hint="Where the material hardly seems to answer: refuse early, or try anyway",
        caution_bold="Lenient",
        caution_balanced="Balanced",
        caution_cautious="Strict",
        only_supported="Leave out a model's sentences that nothing supports (else they stay, marked ⚠️)",
        top_k="Passages searched",
        top_k_hint="How many passages a question is answered from",
        theme="Appearance",
        theme_system="System",
        theme_light="Light",
        theme_dark="Dark",
        language_hint="The language is switched at the top right of the page.",
        saved="Saved",
        reset="Back to the defaults",
        where="What runs where",
        where_what="Part",
        where_runs="Where",
        here="This machine (the one that runs the program)",
        browser="Your browser",
        part_documents="Documents and index",
        part_search="Search ({embedder})",
        part_answers="Writing answers",
        part_conversation="Conversations",
        part_choices="These settings",
        answers_quotes="This machine; quotes, without a model",
        answers_here="This machine, model {model}",
        answers_remote="{host}, model {model}: questions and quoted material are sent there",
        test="Test the model",
        test_hint="Sends the chosen model a tiny question and takes the time.",
        testing="Testing…",
        test_done="It works: {model} answered after {seconds} seconds.",
        test_failed="It failed: {problem}",
        test_nothing="Answers are quotes now: there is no model to test.",
        test_key="the key was refused ({code}). Check the key.",
        test_forbidden="not allowed ({code}). Check the rights and the credit of the key.",
        test_not_found="wrong address or model name ({code}). Check both.",
        test_busy="too many requests, or no credit left ({code}). Try again later.",
        test_broken="the endpoint itself failed ({code}). Try again later.",
        test_timeout="no answer came in time.",
        test_connection="no connection. Check the address, and whether it is running.",
        test_tls="no encrypted connection: the certificate is not trusted, or the address is not https.",
        test_host="no such host. Check the address.",
        test_redirect="the address leads elsewhere ({code}). Enter the final one; the key was not sent there.",
        test_not_openai="what answers there does not speak OpenAI's protocol. Check the address; most end in /v1.",
        test_other="no usable answer came.",
        test_details="Details",
    ),
}
