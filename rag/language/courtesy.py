"""Kinds of courtesies; `messages.py` recognises them."""

from enum import StrEnum


class Courtesy(StrEnum):
    """A message to the chatbot that does not ask about the material."""

    GREETING = "greeting"
    THANKS = "thanks"
    FAREWELL = "farewell"
    ABILITIES = "abilities"
    QUIZ = "quiz"
    TRANSLATION = "translation"
