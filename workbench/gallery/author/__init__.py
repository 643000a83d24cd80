"""The built-in author: draws a wish without a language model, from the words of the gallery and the catalog.

It knows the questions of the gallery, the quantities of the field and the names in the store, in four languages. What
it does not know for sure it answers in words, and says what there is instead. ``written`` and ``nothing_drawn``
are all that others need.
"""

from .author import not_drawn, nothing_drawn, written

__all__ = ["not_drawn", "nothing_drawn", "written"]
