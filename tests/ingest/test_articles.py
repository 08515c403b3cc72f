"""Small articles in the styles of scraped pages, with their faults: what comes out is what a reader would keep."""

from tests.ingest.made_up import all_text, passages, questions

NUMBERED = """训练技巧五十问——第二部分
摘要 本文整理训练技巧里的常见问题,包括热身、裁剪与早停。
21、请说明梯度裁剪的做法,以及什么时候需要它。
答案:
-
裁剪的想法:限制一步的大小
- 先算所有梯度的范数:
(g = \\sqrt{\\sum_i g_i^2})
若 (g > c),其中 (c) 是阈值。 - 再把每个梯度乘以同一个数:
(g_i \\leftarrow g_i \\cdot \\frac{c}{g})
- 先算所有梯度的范数:
-
-
在框架里的做法:
-
前向之后:
- 从损失调用
loss.backward(); - 再调用
clip_grad_norm_把范数压下去; - 最后更新参数。
- 从损失调用
-
22、学习率热身有什么用?([example.com][2])
答案:
-
原因:
- 开始时统计量不准,大的学习率会让损失变成 NaN。
-
做法**：**
- 一千步内从零升到目标值:
for step in range(1000): rate = base * step / 1000 set_rate(optimizer, rate)
-
23、怎样固定随机数?
答案:
-
要固定的有:
torch.manual_seed(3) np.random.seed(3)
-
更多推荐



所有评论(0)
"""


def test_numbered_questions() -> None:
    drafts = passages(NUMBERED)
    assert questions(NUMBERED) == [
        "21、请说明梯度裁剪的做法,以及什么时候需要它。",
        "22、学习率热身有什么用?",
        "23、怎样固定随机数?",
    ]
    text = all_text(drafts)
    lines = text.splitlines()
    assert "-" not in [line.strip() for line in lines]
    assert "更多推荐" not in text
    assert "所有评论" not in text
    assert "example.com" not in text
    assert "**" not in text
    assert "$g = \\sqrt{\\sum_i g_i^2}$" in lines
    assert "- 从损失调用 loss.backward();" in lines
    assert lines.count("- 先算所有梯度的范数:") == 1
    assert "```\nfor step in range(1000):\nrate = base * step / 1000\nset_rate(optimizer, rate)\n```" in text
    assert "```\ntorch.manual_seed(3)\nnp.random.seed(3)\n```" in text


MIXED = """写在前面
面了十几家公司之后,把题目记在这里。
Q1:蒸馏时温度怎么选?
1.先看教师的熵
温度高,分布就平,小的概率也能学到。
- 分类任务:2 到 4 之间
- 生成任务:1 附近
\\2. 再看学生的大小
学生小,温度可以低一些。
Q2:剪枝之后为什么要微调?
剪枝改变了层的输出,微调把它补回来。
导出命令:
# 导出两种精度并比较convert --model=a.onnx --fp16 --verbose
Q3:量化误差排查对照表
由于篇幅有限,完整答案不在这里展示,需要的朋友扫描下方二维码免费领取!!! 👇👇👇
短题集合
1、请解释一下词袋模型的原理。
答案:词袋模型只数每个词出现的次数,不看顺序,常用作文本分类的基线。
2、请解释一下互信息的作用。
答案:互信息衡量两个变量有多相关,常用来选特征,值越大越相关。
3、请解释一下词袋模型的原理。
答案:词袋模型只数每个词出现的次数,不看顺序,常用作文本分类的基线。
由于篇幅有限,完整答案不在这里展示,需要的朋友扫描下方二维码免费领取!!! 👇👇👇
"""


def test_two_series_in_one_article() -> None:
    assert questions(MIXED) == [
        "Q1:蒸馏时温度怎么选?", "Q2:剪枝之后为什么要微调?", "Q3:量化误差排查对照表",
        "1、请解释一下词袋模型的原理。", "2、请解释一下互信息的作用。", "3、请解释一下词袋模型的原理。",
    ]  # fmt: skip
    drafts = passages(MIXED)
    text = all_text(drafts)
    assert "二维码" not in text
    assert "👇" not in text
    # Asked, promised, never answered: what is left below it is the heading of the next series.
    assert [draft.content.text for draft in drafts if "对照表" in draft.content.text] == [
        "Q3:量化误差排查对照表\n短题集合"
    ]
    assert "\n2. 再看学生的大小\n" in text
    assert "```\n# 导出两种精度并比较\nconvert --model=a.onnx --fp16 --verbose\n```" in text


INTERVIEWER = """面试速查
读者可以照着背。
1. 什么是困惑度?为什么取指数?
面试官想听
先给定义,再讲直觉。
完整回答
-
定义:平均负对数似然的指数
PPL = exp(L)
-
直觉:模型在多少个词里犹豫
常见追问
Q:可以跨词表比较吗?
A:不可以,词表不同,每步的选择数不同。
2. 写出束搜索,并说明复杂度。
面试官想听
一步只留 k 个前缀。
代码级
def beam(step, start, k):
beams = [(0.0, [start])]
for _ in range(20):
beams = grow(beams, step)[:k]
return beams
追问
Q:为什么要长度惩罚?
A:分数是对数之和,越长越小。
3. 两种采样法怎么选
面试官想听
| 方法 | 参数 | 适合 |
|---|---|---|
| top-k | k=50 | 固定的候选数 |
| top-p | p=0.9 | 分布忽尖忽平时 |
祝大家顺利!
更多推荐

所有评论(3)
"""


def test_interviewer_style() -> None:
    assert questions(INTERVIEWER) == [
        "1. 什么是困惑度?为什么取指数?", "2. 写出束搜索,并说明复杂度。", "3. 两种采样法怎么选",
    ]  # fmt: skip
    text = all_text(passages(INTERVIEWER))
    assert "- 定义:平均负对数似然的指数" in text
    code = "def beam(step, start, k):\nbeams = [(0.0, [start])]\nfor _ in range(20):\n"
    assert f"```\n{code}beams = grow(beams, step)[:k]\nreturn beams\n```" in text
    assert "| top-p | p=0.9 | 分布忽尖忽平时 |" in text
    assert "所有评论" not in text


CHAPTERS = """推理岗面试要点:一篇讲透
近来不少人问推理岗怎么准备。
一、岗位要求
-
某云公司(代号甲)
核心要求是部署经验。 -
某手机公司(代号乙)
看重端侧优化。
二、核心题目
1. 投机采样为什么不改变分布?
小模型先写几个词,大模型一次检查。
(1)接受的规则
接受的概率为α=min⁡(1,pq)\\alpha = \\min(1, \\frac{p}{q})α=min(1,qp),其中ppp来自大模型,qqq来自小模型。
- 分布不变:接受和重采样合起来仍是ppp;
- 加速比约为2k2^k2k的情况很少见。
(2)配置
-
写成配置,例如:```
{
"draft": "small",
"tokens": 4
}
2. 分页缓存解决了什么?
缓存按页分配,碎片就少。
| 方式 | 碎片 |
|---|---|
| 连续 | 多 |
| 分页 | 少 |
三、怎么学习大模型?
点击领取全套视频教程,微信扫描下方二维码免费领取
学习路线大纲:
1. 怎样报名?
加微信即可,一键三连
第一阶段:入门
88本大模型书籍
更多推荐
"""


def test_chapters_with_threefold_formulas() -> None:
    assert questions(CHAPTERS) == ["1. 投机采样为什么不改变分布?", "2. 分页缓存解决了什么?"]
    drafts = passages(CHAPTERS)
    text = all_text(drafts)
    assert "- 某云公司(代号甲)" in text
    assert "- 某手机公司(代号乙)" in text
    assert "接受的概率为$\\alpha = \\min(1, \\frac{p}{q})$,其中$p$来自大模型,$q$来自小模型。" in text
    assert "仍是$p$;" in text
    assert "约为$2^k$的情况" in text
    assert '```\n{\n"draft": "small",\n"tokens": 4\n}\n```' in text
    assert "| 分页 | 少 |" in text
    for gone in ("学习大模型", "报名", "第一阶段", "书籍", "更多推荐"):
        assert gone not in text
    assert {draft.section[0] for draft in drafts if draft.section} == {
        "二、核心题目"
    }  # the first, small, joins the intro
