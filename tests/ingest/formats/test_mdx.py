"""MDX: the text between what is program."""

from ingest.formats import mdx

PAGE = """\
import Tabs from "@theme/Tabs"
export const a = {
  b: 1,
}

# 笔记

<Note type={a} title="注 > 意">重要：`<Foo />` 与 a<b 和 List<int></Note>
{/* 给作者
的话 */}
<>片段</>

```jsx
import X from "x"
<Foo/>
```

import 是关键字，export 也是。
"""


def test_text_is_kept_and_program_left_out() -> None:
    lines = [line for line in mdx.read(PAGE.encode()).text.splitlines() if line]
    assert lines == [
        "# 笔记", "重要：`<Foo />` 与 a<b 和 List<int>", "片段", "```jsx", 'import X from "x"', "<Foo/>", "```",
        "import 是关键字，export 也是。",
    ]  # fmt: skip
