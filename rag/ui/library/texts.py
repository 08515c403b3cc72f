"""The strings of the library, in Chinese and English."""

from dataclasses import dataclass

from rag.ui.texts import Language


@dataclass(frozen=True, slots=True)
class LibraryTexts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    tab: str
    heading: str
    summary: str
    search: str
    search_hint: str
    kind: str
    all_kinds: str
    topic: str
    all_topics: str
    top: str
    add: str
    limits: str
    add_files: str
    replace: str
    not_allowed: str
    added: str
    already: str
    duplicate: str
    refresh: str
    reading: str
    reading_documents: str
    reading_passages: str
    nothing_run: str
    finished: str
    nothing_changed: str
    count_added: str
    count_changed: str
    count_moved: str
    count_removed: str
    count_stale: str
    count_failed: str
    count_unchanged: str
    passages_report: str
    failed_heading: str
    unread_heading: str
    unread_yet: str
    unread_protected: str
    unread_scanned: str
    unread_empty: str
    unread_encoding: str
    unread_large: str
    unread_program: str
    unread_file: str
    unread_damaged: str
    warnings_heading: str
    changes_heading: str
    added_mark: str
    changed_mark: str
    moved_mark: str
    removed_mark: str
    not_a_document: str
    too_large: str
    name_taken: str
    problem: str
    document: str
    passages: str
    characters: str
    size: str
    date: str
    tags: str
    stale: str
    stale_hint: str
    own: str
    same_as: str
    ask_about: str
    ask_about_topic: str
    read: str
    remove: str
    confirm: str
    confirm_yes: str
    confirm_no: str
    none: str
    none_fit: str
    more: str
    back: str
    gone: str
    shortened: str


TEXTS = {
    Language.ZH: LibraryTexts(
        tab="资料",
        heading="资料库",
        summary="{documents} 篇资料 · {passages} 个段落 · {characters} 字 · 第 {generation} 版索引",
        search="搜索资料",
        search_hint="标题、文件名或标签",
        kind="类型",
        all_kinds="全部类型",
        topic="主题",
        all_topics="全部主题",
        top="未分类",
        add="添加资料",
        limits="每个文件最多 {megabytes} MB；支持 {suffixes}。所有能打开这个页面的人都会看到。",
        add_files="把文件拖到这里，或点击选择",
        replace="替换同名资料",
        not_allowed="这里不能添加或删除资料（设置 uploads 可以打开）。",
        added="已保存 {count} 个文件，正在编入索引",
        already="“{name}”已经在资料库里，内容没有变化。",
        duplicate="“{name}”和已有的“{other}”内容完全相同。",
        refresh="更新索引",
        reading="正在读取资料…",
        reading_documents="正在读取文件 {done}/{total}",
        reading_passages="正在计算向量 {done}/{total}",
        nothing_run="上一次读取的结果",
        finished="{time} 完成，用了 {seconds} 秒",
        nothing_changed="资料没有变化。",
        count_added="新增 {count}",
        count_changed="改动 {count}",
        count_moved="移动 {count}",
        count_removed="删除 {count}",
        count_stale="沿用旧版 {count}",
        count_failed="失败 {count}",
        count_unchanged="未变 {count}",
        passages_report="段落：共 {total}，新算 {embedded}，沿用 {reused}",
        failed_heading="没能读取",
        unread_heading="没有编入索引的文件",
        unread_yet="还没有读取。",
        unread_protected="文件有密码或版权保护，或是旧格式。请另存成普通文件再传。",
        unread_scanned="只有扫描的图片，没有文字。请先做文字识别，或打开设置 ocr。",
        unread_empty="没有可用的文字。",
        unread_encoding="不是文本，或文字编码认不出来。请存成 UTF-8 再传。",
        unread_large="文件太大或太复杂，请拆开再传。",
        unread_program="这台机器上缺少读取这类文件的组件。",
        unread_file="文件读不了：请检查文件名和权限，再更新索引。",
        unread_damaged="文件已损坏，或与扩展名不符。请另存后再传。",
        warnings_heading="请注意",
        changes_heading="改动明细",
        added_mark="新增",
        changed_mark="改动",
        moved_mark="移动",
        removed_mark="删除",
        not_a_document="“{name}”不是能读的资料。能读的类型：{suffixes}",
        too_large="“{name}”有 {size} MB，最多 {megabytes} MB。请拆开，或调大设置 max_file_megabytes。",
        name_taken="资料库里已有另一份“{name}”。请改名，或勾选“替换同名资料”再试。",
        problem="没有完成：{problem}",
        document="资料",
        passages="段落",
        characters="字数",
        size="大小",
        date="修改日期",
        tags="标签",
        stale="旧版",
        stale_hint="文件现在读不了，用的是上次读到的内容",
        own="自己添加",
        same_as="和 {other} 内容相同",
        ask_about="就它提问",
        ask_about_topic="只就“{topic}”提问",
        read="阅读",
        remove="删除",
        confirm="删除“{name}”？文件会从资料库里移除，不能撤销。",
        confirm_yes="删除",
        confirm_no="保留",
        none="资料库还是空的。",
        none_fit="没有符合的资料，换个词试试。",
        more="还有 {count} 篇没有列出，请缩小范围。",
        back="返回列表",
        gone="这篇资料已经不在索引里。",
        shortened="只显示前 {shown} 个字，全文共 {total} 个字。",
    ),
    Language.EN: LibraryTexts(
        tab="Library",
        heading="Library",
        summary="{documents} documents · {passages} passages · {characters} characters · generation {generation}",
        search="Search the library",
        search_hint="Title, file name or tag",
        kind="Type",
        all_kinds="All types",
        topic="Topic",
        all_topics="All topics",
        top="no topic",
        add="Add documents",
        limits="At most {megabytes} MB a file; {suffixes}. Everyone who can open this page will see them.",
        add_files="Drop files here, or click to choose",
        replace="Replace documents of the same name",
        not_allowed="Documents cannot be added or removed here (the setting uploads allows it).",
        added="{count} saved; reading them now",
        already="“{name}” is in the library already, with the same content.",
        duplicate="“{name}” has exactly the same content as “{other}”, which is there already.",
        refresh="Update the index",
        reading="Reading the documents…",
        reading_documents="Reading documents {done}/{total}",
        reading_passages="Computing vectors {done}/{total}",
        nothing_run="What the last run did",
        finished="Done at {time}, in {seconds} seconds",
        nothing_changed="No document has changed.",
        count_added="{count} added",
        count_changed="{count} changed",
        count_moved="{count} moved",
        count_removed="{count} removed",
        count_stale="{count} stale",
        count_failed="{count} failed",
        count_unchanged="{count} unchanged",
        passages_report="Passages: {total} in all, {embedded} computed, {reused} kept",
        failed_heading="Could not be read",
        unread_heading="Files that are not in the index",
        unread_yet="Not read yet.",
        unread_protected="It has a password, protected rights or an old format: save it as an ordinary file.",
        unread_scanned="It holds scanned pictures, no text: recognise the text first, or turn on the setting ocr.",
        unread_empty="It holds no text that can be used.",
        unread_encoding="It is no text, or its encoding is unknown: save it as UTF-8.",
        unread_large="It is too large or too complex: split it.",
        unread_program="What reads such files is not installed on this machine.",
        unread_file="The file cannot be read: check its name and rights, then update the index.",
        unread_damaged="The file is damaged, or not what its ending says: save it anew, then add it again.",
        warnings_heading="Please note",
        changes_heading="What changed",
        added_mark="added",
        changed_mark="changed",
        moved_mark="moved",
        removed_mark="removed",
        not_a_document="“{name}” is no document that can be read. These can: {suffixes}",
        too_large="“{name}” has {size} MB; at most {megabytes} MB are allowed. Split it, or raise max_file_megabytes.",
        name_taken="The library has another “{name}”. Rename it, or tick “Replace documents of the same name”.",
        problem="Not done: {problem}",
        document="Document",
        passages="Passages",
        characters="Characters",
        size="Size",
        date="Changed",
        tags="Tags",
        stale="stale",
        stale_hint="The file cannot be read now; what was read last is used",
        own="added here",
        same_as="same content as {other}",
        ask_about="Ask about it",
        ask_about_topic="Ask about {topic} only",
        read="Read",
        remove="Remove",
        confirm="Remove “{name}”? The file is deleted from the library, for good.",
        confirm_yes="Remove",
        confirm_no="Keep",
        none="The library is empty.",
        none_fit="No document fits; try another word.",
        more="{count} more are not listed: narrow the search.",
        back="Back to the list",
        gone="This document is no longer in the index.",
        shortened="The first {shown} of {total} characters.",
    ),
}
