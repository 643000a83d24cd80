"""Writes the two texts from which a language model writes recipes for a project, checks what it answers, and keeps the
drafts that it sends.

The texts are made from the declarations: fields and limits from the models of a recipe, sources and columns from the
catalog, helpers from their docstrings. Only the rules (``rules.md``) and the examples are written by hand.

``examine`` checks an answer and draws its draft; ``write`` asks until an answer is sound; a ``Conversation`` keeps
what was said, drafted and decided. Who answers is a `Respond`: a function of messages.
"""

from .checked_answer import EMPTY_FIGURE, CheckedAnswer, Draws, examine
from .context import AuthoringContext, prompt_text, system_text, texts
from .conversation import Conversation, answers_in, replayed
from .loop import Respond, Turn, Written, write
from .named_tests import tests_told

__all__ = [
    "EMPTY_FIGURE",
    "AuthoringContext",
    "CheckedAnswer",
    "Conversation",
    "Draws",
    "Respond",
    "Turn",
    "Written",
    "answers_in",
    "examine",
    "prompt_text",
    "replayed",
    "system_text",
    "tests_told",
    "texts",
    "write",
]
