"""Small documents to review."""

BANDWIDTH = "A100 80 GB 的显存带宽是 2.0 TB/s。"


def page(title: str, *sentences: str, checked: str = "2026-01-02") -> str:
    return f"---\nchecked: {checked}\n---\n# {title}\n\n## 展开\n\n{''.join(sentences)}\n"


# Documents about other things.
FILLER = {
    f"filler-{number}.md": page(f"别的资料 {number}", f"{subject}是另一件事，{claim}。这里的训练和显存只是顺带提到。")
    for number, (subject, claim) in enumerate(
        [
            ("分词", "字节级的词表没有未登录词"), ("检索", "混合检索把关键词和向量的名次融合"),
            ("蒸馏", "学生模型学习教师的分布"), ("评测", "基准的题目会泄漏到训练数据里"),
            ("位置编码", "旋转位置编码作用在查询和键上"), ("采样", "温度把分布压平"),
            ("缓存", "前缀相同的请求共用缓存"),
            ("并行", "流水线并行按层切分"), ("安全", "护栏模型检查请求和回复"), ("数据", "去重用签名估计相似度"),
            ("对齐", "偏好数据要覆盖策略的输出"), ("归一化", "残差主干不经过归一化"),
        ]
    )
}  # fmt: skip
