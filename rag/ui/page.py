"""The page: its head, its tabs, and the language they speak."""

from html import escape

import gradio as gr

from rag.assistant import Assistant
from rag.following import Following
from rag.ui.chat_tab import build_chat
from rag.ui.part import AT_ONCE, Updates
from rag.ui.session import Session
from rag.ui.texts import TEXTS, Language, Texts, language_of

# Readers who may wait for an answer.
WAITING = 32

# The language that the reader chose last; nothing where none was chosen.
REMEMBERED_LANGUAGE = """(session, language) => {
  const chosen = localStorage.getItem("interview-rag.language");
  return [session, ["zh", "en"].includes(chosen) ? chosen : null];
}"""


def build_page(
    assistant: Assistant, *, following: Following | None = None, language: Language | None = None
) -> gr.Blocks:
    """The page over an assistant. Without `language` each reader gets the browser's; without `following` nobody can
    have the documents followed."""
    first = language or Language.ZH
    texts = TEXTS[first]
    page = gr.Blocks(title=texts.title, analytics_enabled=False, fill_width=True)
    with page:
        session = gr.State(Session(language=first), delete_callback=Session.stop)
        with gr.Column(elem_id="page"):
            with gr.Row(elem_id="head"):
                title = gr.HTML(_title(texts), elem_id="title")
                switch = gr.Radio(
                    [("中文", Language.ZH.value), ("English", Language.EN.value)],
                    value=first.value,
                    label=texts.language,
                    elem_id="language",
                )
            parts = [build_chat(assistant, session, following, first)]
        labels = [title, switch, *(component for part in parts for component in part.components)]

        def speak(state: Session, name: Language) -> Updates:
            state.language = name
            texts = TEXTS[name]
            head = (_title(texts), gr.update(value=name.value, label=texts.language))
            return (*head, *(update for part in parts for update in part.speak(state)))

        def greet(state: Session, remembered: str | None, request: gr.Request) -> Updates:
            if state.user not in (None, request.username or ""):
                state.clear()  # somebody else has signed in
            state.user = request.username or ""
            known = Language(remembered) if remembered else language
            return speak(state, known or language_of(request.headers.get("accept-language", "")))

        switch.input(lambda state, name: speak(state, Language(name)), [session, switch], labels, **AT_ONCE)
        page.load(greet, [session, switch], labels, js=REMEMBERED_LANGUAGE, **AT_ONCE)
    page.queue(max_size=WAITING)
    return page


def _title(texts: Texts) -> str:
    return f"<h1>{escape(texts.title)}</h1><p>{escape(texts.subtitle)}</p>"
