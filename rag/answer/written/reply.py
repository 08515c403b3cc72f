"""The prompt of a chat model, its raw reply as it streams, and the errors in between."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag.answer.choices import AnswerStyle
from rag.answer.written.prompts import HUMAN, LANGUAGES, NO_ANSWER, SYSTEM, SYSTEM_OF_SMALL
from rag.answer.written.reply_guard import Watch
from rag.chat_models.stopping import CURRENT, Stopped
from rag.errors import ChatModelError, ChatModelProblem
from rag.language.ends import ends_of
from rag.language.terms import CHINESE_RUN

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Characters that a model may put before NO_ANSWER.
QUOTED = " \t\n.。`\"'*"


def prompt_for(question: str, material: str, style: AnswerStyle, *, small: bool) -> tuple[tuple[str, str], ...]:
    """The messages for a chat model, as (role, text); small ones have their own."""
    is_chinese = bool(re.search(CHINESE_RUN, question))
    language = " ".join(filter(None, (LANGUAGES[is_chinese], style.wish[is_chinese])))
    human = HUMAN.format(question=question, material=material, language=language)
    return ("system", SYSTEM_OF_SMALL if small else SYSTEM), ("human", human)


def stream_reply(model: "BaseChatModel", question: str, prompt: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The model's raw text as it comes, for a prompt of (role, text) messages.

    A reply that ends within a sentence and without a finish reason broke off. Raises ChatModelError for any failure
    between us and the model, and if the model repeats itself or answers in another language than the question's;
    Stopped if its reader has left.
    """
    watch, said = Watch(question), ""
    is_whole = model._llm_type != "openai-chat"  # others give no finish reason
    try:
        # Not one chain with an output parser: closing its stream would read the model to its end (langchain-core 1.x).
        for chunk in model.stream(list(prompt)):
            text = str(chunk.text)
            watch.see(text)
            is_whole = is_whole or bool(chunk.response_metadata.get("finish_reason"))
            said += text
            yield text
        watch.end()
        if not is_whole and len(said.rstrip()) not in list(ends_of(said.rstrip())):
            raise ChatModelError("the chat model's reply broke off", hint="ask again", problem=ChatModelProblem.BROKEN)
    except Exception as error:  # a broken endpoint makes three libraries fail, in undocumented ways
        stop = CURRENT.get()
        if stop is not None and stop.asked:
            raise Stopped from None
        raise _told(error) from error


def _told(error: BaseException) -> ChatModelError:
    """The error that names the cause: a client library hides the error of its transport in its own."""
    for cause in _causes(error):
        if isinstance(cause, ChatModelError):
            return cause
    message = f"the chat model did not answer: {error}"
    return ChatModelError(message, hint="check the endpoint, its model name and key", problem=_problem(error))


def _problem(error: BaseException) -> ChatModelProblem:
    import httpx
    import openai

    for cause in _causes(error):
        match cause:
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return ChatModelProblem.UNAUTHORIZED
            case openai.NotFoundError():
                return ChatModelProblem.UNKNOWN
            case openai.RateLimitError():
                return ChatModelProblem.BUSY
            case openai.APITimeoutError() | httpx.TimeoutException():
                return ChatModelProblem.TIMED_OUT
            case httpx.ConnectError():
                return ChatModelProblem.UNREACHABLE
    return ChatModelProblem.BROKEN


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def says_no_answer(text: str) -> bool:
    return text.lstrip(QUOTED).startswith(NO_ANSWER)


def may_say_no_answer(text: str) -> bool:
    """Whether an unfinished text declines, or may yet decline."""
    return NO_ANSWER.startswith(text.lstrip(QUOTED)[: len(NO_ANSWER)])
