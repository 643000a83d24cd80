"""Writes the two texts from which a language model writes recipes for a project, and keeps the drafts that it sends.

The texts are made from the declarations: fields and limits from the models of a recipe, sources and columns from the
catalog, helpers from their docstrings. Only the rules (``rules.md``) and the examples are written by hand.
"""

from .context import AuthoringContext, prompt_text, system_text, texts

__all__ = ["AuthoringContext", "prompt_text", "system_text", "texts"]
