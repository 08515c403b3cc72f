"""Prompts that a client offers its user."""

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

Topic = Annotated[str, Field(max_length=200, description="a topic of the material; empty for any topic")]
Count = Annotated[int, Field(ge=1, le=20, description="number of questions")]
Asked = Annotated[str, Field(min_length=1, max_length=4_000, description="what you want to understand")]


def add_prompts(server: MCPServer) -> None:
    @server.prompt(title="模拟面试 · Mock interview")
    def mock_interview(topic: Topic = "", questions: Count = 5) -> str:
        """Be interviewed: one question at a time, each answer graded against the material, a report at the end."""
        about = f" on the topic {topic!r}" if topic.strip() else ""
        return f"""\
Interview me{about} for a job as an LLM engineer, in the language that I use. Ask {questions} questions.
For each: call practice_question (pass the ids asked so far as `without`) and show me only the question. Wait for my \
answer, and give no hints before it. Pass my words unchanged to grade_answer. Tell me the score, what I said well, and \
what was missing or wrong, with the quotes and their sources; then ask one follow-up on the weakest point, and go on.
At the end, give me a table of questions and scores, my two weakest subjects, and which documents to read."""

    @server.prompt(title="带出处讲解 · Explain with sources")
    def explain_with_sources(question: Asked) -> str:
        """Get an explanation from the material, with a source for every statement."""
        return f"""\
Explain this to me, in the language of the question, from the interview material only:

{question}

Call ask with this question, and search or read_source for the text around the quotes. Begin with the answer in two \
sentences; then explain how it works, with numbers and trade-offs, and say what interviewers ask next. Put a citation \
after every statement, and quote the decisive sentence of each source exactly. Where the material says nothing, say \
so; mark anything from your own knowledge as such."""
