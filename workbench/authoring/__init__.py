"""What a writer of recipes must know of a project, as two texts; and the drafts that come back.

Everything in the texts is taken from the declarations: fields and limits from the models of a recipe, sources and
columns from the catalog, helpers from their docstrings. Only the rules (``rules.md``) and the examples are written.
"""

from .context import AuthoringContext, prompt_text, system_text, texts

__all__ = ["AuthoringContext", "prompt_text", "system_text", "texts"]
