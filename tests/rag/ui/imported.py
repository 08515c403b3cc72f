"""What a process imports before the servers of the tests are forked from it; see `forked`."""

import contextlib

from rag.ui.app.launch import private_environment

environment = contextlib.ExitStack()
environment.enter_context(private_environment())  # which Gradio reads when it is imported

import torch  # noqa: E402, F401

import rag.answer.assistant  # noqa: E402
import rag.ui.app.page  # noqa: E402, F401
