"""What a wish does not want: ``without batch B``, ``not the 45 °C cells``, ``ohne Charge C``."""

from __future__ import annotations

import re

_BEFORE = (
    r"(?:(?:the|those|cells?|batch(?:es)?|lots?|tests?|files?|at|of|from|in|for|die|der|den|das|zellen?|chargen?|bei"
    r"|von|aus|im|cellules?|essais?|les?|la|du|de|à)\s+)*"
)
_NAME = r"[^\s,;.:?!]+(?:\.\d+)?(?:\s*°\s*c\b)?(?:\s+(?:cells?|zellen|cellules|tests?)\b)?"
_CLAUSE = (
    r"(?:(?!\s(?:by|per|over|vs|versus|against|as|with|show|plot|je|pro|nach|über|gegen|mit|par|selon|avec)\b)"
    r"[^,;.:?!])*"
)
_VERB = r"(?:^|(?<=[,;.:] )|(?<=and )|(?<=then )|(?<=now )|(?<=please ))(?:drop|remove|hide)"
"""Words that leave something out where they begin what is said: a voltage may drop."""
_WITHOUT = re.compile(
    r"\b(?:without|not interested in|ignor(?:e|ing)|skip(?:ping)?|lass(?:e|en)?(?= .*\bweg\b)|ignoriere|ignore[rz]"
    r"|except(?:ing)?(?: for)?|exclud(?:e|es|ing)|but not|other than|apart from|leave out|leaving out"
    rf"|{_VERB}|ohne|außer|ausser|entferne|verstecke|sans|sauf|excepté|hormis|masque|enlève|retire)\b"
    rf"({_CLAUSE})"
    rf"|\b(?:not|no|nicht|pas|kein(?:e|en|er)?)\s+"
    rf"({_BEFORE}{_NAME}(?:\s*(?:,|and|und|et|or|oder|ou|&)\s*{_BEFORE}{_NAME})*)"
    r"|(?:除了|不包括|不含|排除|去掉|隐藏)([^,;。]*)",
    re.IGNORECASE,
)
_OTHER_UNIT = re.compile(r"\b(?:not|nicht|pas) (?:in|en) (?:%|[^\s,;.]+)", re.IGNORECASE)
"""``in %, not in Ah``."""
_NEXT = re.compile(
    r"\s*(?:,|\b(?:and|or|und|oder|et|ou)\s)\s*(?:(?:and|or|und|oder|et|ou)\s+)?([^\s,;:]+)", re.IGNORECASE
)

AGAIN = re.compile(
    r"\s(?:and|or|und|oder|et|ou|,)\s+(?:without|not|except|excluding|ohne|nicht|sans|sauf|pas)\s", re.IGNORECASE
)
"""Where what a wish does not want goes on with something else that it does not want."""


def parted(text: str, names: frozenset[str]) -> tuple[str, str, bool]:
    """A wish without what it does not want; that, empty if nothing is left out; and whether it says so plainly, as
    ``without`` does and ``not`` does not: ``cells that do not reach 80 %``.

    Parameters
    ----------
    names : the names in the store, in small letters: a list of them behind a comma goes on with what is left out.
    """
    text = _OTHER_UNIT.sub(" ", text)
    found = _WITHOUT.search(text)
    if not found:
        return text, "", False
    end = found.end()
    unwanted = next(part for part in found.groups() if part is not None)
    while more := _NEXT.match(text, end):
        if more[1].casefold() not in names:
            break
        unwanted, end = f"{unwanted}, {more[1]}", more.end()
    return f"{text[: found.start()]} {text[end:]}", unwanted.strip(), found[2] is None
