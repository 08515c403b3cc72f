"""The blocks of a Word document: paragraphs, and tables whose cells consist of such blocks."""

from dataclasses import dataclass, field

from ingest.formats.office.word.numbering import Label

NO_LEVEL = 9


@dataclass(slots=True)
class Paragraph:
    """`level` is that of a heading, from 0, or NO_LEVEL. `size`, in half points, is that of most of its text;
    `is_bold`: all of its text is. `beside` are the blocks beside it: text boxes, charts, comments. `bare` is its text
    without `notes`. `runs_on`: the break after it was deleted."""

    text: str
    level: int = NO_LEVEL
    label: Label | None = None
    is_code: bool = False
    size: int = 0
    is_bold: bool = False
    is_centred: bool = False
    beside: list["Block"] = field(default_factory=list)
    bare: str = ""
    notes: list[str] = field(default_factory=list)
    runs_on: bool = False

    def become_heading(self, level: int) -> None:
        """Make it a heading, with its notes below it."""
        self.level, self.text, self.beside, self.notes = level, self.bare, [*self.notes, *self.beside], []

    def go_on_from(self, before: "Paragraph") -> None:
        """Prepend the paragraph that runs on into this one."""
        self.text, self.bare = before.text + self.text, before.bare + self.bare
        self.notes, self.beside = before.notes + self.notes, before.beside + self.beside
        self.label = self.label or before.label

    @property
    def labelled(self) -> str:
        """Its text with the number before it."""
        text = self.text.strip()
        if self.label is None or not self.label.text:
            return text
        joint = "" if self.label.is_glued or self.label.text[-1] in "、）】．。：" else " "
        return f"{self.label.text}{joint}{text}".strip()


@dataclass(frozen=True, slots=True)
class TableCell:
    blocks: list["Block"]
    across: int = 1
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    cells: list[TableCell]
    before: int = 0
    is_head: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    rows: list[TableRow]


# A string is a block that is Markdown already.
Block = Paragraph | Table | str
