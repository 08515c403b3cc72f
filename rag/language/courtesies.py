"""What people say to a chatbot without asking about its material: greetings, thanks, what it can do, "quiz me"."""

import re

from rag.language.terms import fold
from rag.types import Courtesy

# Each pattern must cover the whole message, so that a question that merely begins politely stays a question.
_TAIL = r"(?:啊|呀|呢|吧|啦|哦|了|哈|嘛|么|吗|一下)*"
_YOU = r"(?:你|您|请问你?|机器人|小助手|this (?:bot|chatbot|tool|thing|assistant)|you)"
PATTERNS = {
    Courtesy.GREETING: (
        rf"(?:你|您|大家|早上|上午|中午|下午|晚上)?好{_TAIL}|哈喽|哈啰|嗨|喂|早{_TAIL}|在(?:吗|不在|么)|有人(?:吗|在吗)"
        rf"|h(?:i|ello|ey|iya)(?: there| you| bot)?|good (?:morning|afternoon|evening)|yo|greetings|test(?:ing)?|测试{_TAIL}"
    ),
    Courtesy.THANKS: (
        rf"(?:好的?|嗯|ok|okay|明白了?|懂了|知道了|收到)?(?:非常|太|多)?(?:谢谢|感谢|谢啦|谢了|多谢|辛苦)(?:你|您|了)*{_TAIL}"
        rf"|(?:好的?|嗯+|明白|懂|知道|收到|了解|行|可以|不错|厉害|赞|牛){_TAIL}"
        r"|(?:ok(?:ay)?|great|nice|cool|perfect|got it|i see|good)?(?: |, )?(?:thanks?|thank you|thx|ty|cheers)"
        r"(?: (?:a lot|so much|very much|you|man))*|ok(?:ay)?|great|nice|cool|perfect|got it|i see"
    ),
    Courtesy.FAREWELL: rf"再见|拜拜{_TAIL}|拜|晚安|回头见|下次见|(?:good )?bye(?: ?bye)?|see (?:you|ya)(?: later)?|good night",
    Courtesy.ABILITIES: (
        rf"{_YOU}?(?:能|可以|会|都会)(?:做|干|帮我做|帮我|回答|聊|讲|问|教)?(?:些|点)?(?:什么|啥|哪些)(?:问题|事|东西|内容|题)?{_TAIL}"
        rf"|{_YOU}(?:是|叫)(?:谁|什么|啥)(?:名字)?{_TAIL}|(?:怎么|如何)使?用(?:你|这个(?:机器人|工具|网页|东西)){_TAIL}"
        rf"|(?:有|包含|覆盖)(?:哪些|什么|啥)(?:主题|话题|内容|题目|资料){_TAIL}|(?:介绍|说说)(?:一下)?(?:你|您)?自己{_TAIL}|帮助|使用说明"
        r"|what (?:can|do) you (?:do|know|answer|help with)(?: for me)?|what topics (?:can you answer|do you (?:know|cover)|are there)"
        rf"|what questions can i ask|who are you|what are you|what is {_YOU}|how (?:do|can) i use (?:this|you|it)"
        r"|how does this (?:bot|tool|chatbot|app)? ?work|help(?: me)?|/help"
    ),
    Courtesy.QUIZ: (
        rf"(?:来|请|能不能|可以)?(?:考考|考|测测|测试|面试|提问|抽查)(?:一下)?我{_TAIL}|(?:来|出|给我出|随机|抽)(?:一|几|个|两|三)?(?:道|个)?题{_TAIL}"
        rf"|(?:开始)?模拟面试{_TAIL}|(?:随机)?问我(?:一|几)?(?:个|道)?(?:问题|题){_TAIL}|quiz me|test me|interview me|ask me (?:a |some )?questions?"
        r"|mock interview|give me a (?:random )?question"
    ),
    Courtesy.TRANSLATION: (
        rf"(?:请|帮我|帮忙|能不能|可以)?(?:把|将)?(?:它|这个|这段|上面的?|上述|刚才的?|答案|回答|以上)?(?:内容|回答|答案)?(?:翻译|译|换)"
        rf"(?:成|为|一下)?(?:中文|英文|英语|汉语|简体|繁体)?{_TAIL}|(?:用)?(?:英文|英语|中文)(?:再)?(?:说|讲|回答|写)?(?:一?遍|一下)?{_TAIL}"
        r"|(?:please |can you |could you )?(?:translate|say|answer)(?: (?:it|that|this|the answer|please))?(?: (?:in)?to| in)?"
        r"(?: (?:english|chinese|mandarin))?(?: please)?|in (?:english|chinese)(?: please)?"
    ),
}
COMPILED = {kind: re.compile(rf"(?:{pattern})") for kind, pattern in PATTERNS.items()}
PUNCTUATION = re.compile(r"[\s,.!?;:~、，。！？；：～…\"'“”‘’()（）]+")
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
# A longer message asks for something.
LONGEST = 40


def courtesy(question: str) -> Courtesy | None:
    """Which courtesy a message is; None for a question.

    >>> courtesy("谢谢！"), courtesy("What can you do?"), courtesy("你好，LoRA 是什么")
    (<Courtesy.THANKS: 'thanks'>, <Courtesy.ABILITIES: 'abilities'>, None)
    """
    folded = PUNCTUATION.sub(" ", EMOJI.sub(" ", fold(question))).strip()
    if len(folded) > LONGEST:
        return None
    if not folded:
        return Courtesy.GREETING if question.strip() and not any(map(str.isalnum, question)) else None
    parts = [folded, folded.replace(" ", "")]
    for kind, pattern in COMPILED.items():
        if any(pattern.fullmatch(part) for part in parts):
            return kind
    # "hi, what can you do": every part by itself.
    kinds = [courtesy(part) for part in folded.split(" ")] if " " in folded and not folded.isascii() else []
    return kinds[-1] if kinds and all(kinds) else None
