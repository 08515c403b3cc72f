"""Small documents that contradict each other, or only seem to."""

# Each pair: two statements, and whether they cannot both stand.
CONTRADICTORY = {
    "bandwidth": ("A100 80 GB 的显存带宽是 2.0 TB/s。", "A100 80 GB 的显存带宽是 1.6 TB/s。"),
    "default": (r"DPO 论文默认 $\beta=0.1$，训练一个 epoch。", r"DPO 论文的默认值是 $\beta=0.5$，训练一个 epoch。"),
    "units": ("Llama-2-7B 每个 token 的 KV cache 占 512 KiB。", "Llama-2-7B 每个 token 的 KV cache 占 0.25 MB。"),
    "bound": ("Chatbot Arena 的每次对比至少投票 100 次。", "Chatbot Arena 的每次对比投票 40 次。"),
    "english": (
        "The Adam optimizer of ZeRO keeps 12 bytes of state per parameter.",
        "The Adam optimizer of ZeRO keeps 8 bytes of state per parameter.",
    ),
    "denied": ("梯度检查点不减少参数和优化器状态的显存。", "梯度检查点减少参数和优化器状态的显存。"),
    "denied in English": (
        "Training in BF16 does not need loss scaling with AdamW.",
        "Training in BF16 does need loss scaling with AdamW.",
    ),
}
CONSISTENT = {
    "model size": ("Llama-2-7B 的 BF16 权重约 13.5 GB。", "Llama-2-70B 的 BF16 权重约 138 GB。"),
    "hardware": ("A100 的 BF16 稠密峰值是 312 TFLOPS。", "H100 的 BF16 稠密峰值是 989 TFLOPS。"),
    "precision": ("Mixtral 的权重按 FP16 存放要 93 GB。", "Mixtral 的权重按 INT4 存放要 24 GB。"),
    "rounding": ("A100 80 GB 的显存带宽是 2.0 TB/s。", "A100 80 GB 的显存带宽是 2,039 GB/s。"),
    "about": ("Llama-2-7B 的训练状态约 108 GB。", "Llama-2-7B 的训练状态是 107.8 GB。"),
    "range": ("微调 LoRA 时秩的常用值是 8 到 64 维。", "微调 LoRA 时秩的常用值是 16 维。"),
    "batch": ("vLLM 在 batch 64 时吞吐是 900 token/s。", "vLLM 在 batch 256 时吞吐是 2,400 token/s。"),
    "example": ("假设 A100 的显存带宽是 1.0 TB/s。", "A100 的显存带宽是 2.0 TB/s。"),
    "phase": ("Qwen3-8B 训练时显存占用 130 GB。", "Qwen3-8B 推理时显存占用 17 GB。"),
    "condition": ("数据没有标注时 RRF 是稳妥的融合方法。", "数据有标注时 RRF 是稳妥的融合方法。"),
    "contrast": ("融合算子省的是显存读写，而不是浮点运算。", "融合算子省的是显存读写和浮点运算。"),
    "bound kept": ("DSDM 手册建议 Must 的工作量不超过 60%。", "DSDM 手册建议 Must 的工作量是 55%。"),
}


def page(title: str, *sentences: str, checked: str = "2026-01-02") -> str:
    return f"---\nchecked: {checked}\n---\n# {title}\n\n## 展开\n\n{''.join(sentences)}\n"


# So that words differ in how rare they are.
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
