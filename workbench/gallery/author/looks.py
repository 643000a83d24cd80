"""The look that a wish asks for: title, scales and ranges of axes, lines, legend, marks. Each plot can have it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...python_tree import literal, tree_of
from .matching import written_out
from .recipes import look as look_script

Look = dict[str, Any]
"""What `recipes.look.with_look` takes; empty if nothing is asked for."""
MARKER = "# The look that was asked for"
_DRAWN = "drawn_before"
_LOOK = "LOOK = "
_HEAD = "import re\n\n\n"
_QUOTED = r"""(?:'(?P<a>[^']+)'(?!\w)|"(?P<b>[^"]+)"|[«„“「]\s*(?P<c>[^»“”」]+?)\s*[»“”」])"""
_TITLE = (
    r"\b(?:(?:and|und|et|y|with|mit|avec|con)\s+)?(?:the|a|den|dem|einem|le|un|el)?\s*"
    r"(?:titled?|titel|betitelt|überschrift|titre|intitulée?|titrée?|título|titulad[oa])\b|标题"
)
_SET = r"\s*(?:is|to|auf|ist|as|à|a|为|是|改为|设为|:|:|=)?\s*"
_AXES = {
    "y": r"(?:\by[- ]?(?:axis|achse|range|limits?|lim)\b|\by\s*轴|纵轴|纵坐标"
    r"|\baxe\s+(?:des\s+)?(?:y|ordonnées)\b|\bordonnées?\b"
    r"|\beje\s+y\b|\bvertical axis\b|\bsenkrechte achse\b|\baxe vertical\b"
    r"|\by(?=\s+(?:from|between|von|zwischen|de|entre)\s+-?\d))",
    "x": r"(?:\bx[- ]?(?:axis|achse|range|limits?|lim)\b|\bx\s*轴|横轴|横坐标"
    r"|\baxe\s+(?:des\s+)?(?:x|abscisses)\b|\babscisses?\b"
    r"|\beje\s+x\b|\bhorizontal axis\b|\bwaagerechte achse\b|\baxe horizontal\b"
    r"|\bx(?=\s+(?:from|between|von|zwischen|de|entre)\s+-?\d)|\b(?:time|frequency|cycle)\s+(?:axis|scale)\b"
    r"|\b(?:zeit|frequenz|zyklen)-?achse\b|\baxe du temps\b|时间轴|频率轴)",
}
_LOG = r"(?:\blog(?:arithmic\w*|arithmisch\w*|arithmique\w*)?\b|对数|\blogarítmic\w*)"
_LINEAR = r"(?:\blinear\w*|\blinéaires?\b|线性|\blineal\w*)"
_BOTH = r"\b(?:log[- ]?log|doppelt-?logarithmisch\w*|double logarithmi\w*)\b|双对数"
_NUMBER = r"(-?\d+(?:[.,]\d+)?)"
_TO = r"\s*(?:%|mΩ|°\s?c|v|ah?|h)?\s*(?:to|and|bis|und|à|et|a|y|到|至|和|-|–|,)\s*"
_UNITS = {
    "V": r"(?-i:V)|volts?",
    "mV": r"(?-i:mV)|millivolts?",
    "Hz": r"hz",
    "mΩ": r"m(?:Ω|ω|ohms?)|milliohms?",
    "h": r"h|hrs?|hours?|stunden|heures?",
    "min": r"min|mins|minutes?|minuten",
    "s": r"s|sec|seconds?|sekunden|secondes?",
    "d": r"d|days?|tagen?|jours?",
}
"""Unit -> how it is written behind the ends of a part of an axis."""
_OF_TIME = "|".join(_UNITS[unit] for unit in ("h", "min", "s", "d"))
_WRITTEN = {
    "mA h": r"(?-i:m\.?A\.?h)|mah|milliamp(?:ere)?[- ]?hours?|毫安时",
    "A h": r"(?-i:A\.?h)|ah|amp(?:ere)?[- ]?hours?|安时",
    "mW h": r"(?-i:mWh)",
    "kW h": r"kwh",
    "W h": r"wh|watt[- ]?hours?|瓦时",
    "kJ": r"(?-i:kJ)",
    "C": r"coulombs?",
    "mV": r"(?-i:mV)|millivolts?|毫伏",
    "V": r"(?-i:V)|volts?",
    "mA": r"(?-i:mA)|milliamp(?:ere)?s?|毫安",
    "A": r"amp(?:ere)?s?",
    "mW": r"(?-i:mW)",
    "mΩ": r"m(?:Ω|ω|ohms?)|milliohms?",
    "Ω": r"Ω|ω|ohms?",
    "s": r"(?-i:s)|seconds?|sekunden|secondes?|秒",
    "min": r"min|minutes?|minuten|分钟",
    "h": r"(?-i:h)|hours?|stunden|heures?|小时",
    "d": r"(?-i:d)|days?|tagen|jours?",
    "K": r"(?-i:K)|kelvins?",
    "°C": r"°\s?c|degc|celsius",
}
"""Unit, as an axis prints it -> how it is written in a wish. A letter that is also a batch or an article counts only as
a word."""
_CYCLE = r"(?:cycles?|zyklus|zyklen|循环)"
_CYCLES = (
    (rf"(?:{_CYCLE}|第)\s*(\d+)\s*(?:to|until|through|-|–|bis|à|到|至)\s*(?:{_CYCLE}\s*|第\s*)?(\d+)(?!\d)", (0, 1)),
    (rf"\b(?:between|zwischen|entre)\s+(?:the\s+|den\s+|les\s+)?{_CYCLE}\s+(\d+)\s+(?:and|und|et)\s+(?:{_CYCLE}\s+)?(\d+)",
     (0, 1)),
    (rf"\b(?:first|ersten?|premiers?)\s+(\d+)\s+{_CYCLE}|前\s*(\d+)\s*(?:次|个|圈)", (None, 0)),
    (rf"\b(?:up to|until|till|before|bis|vor|jusqu'au|avant le)\s+(?:the\s+)?{_CYCLE}\s+(\d+)", (None, 0)),
    (rf"\b(?:after|from|beyond|since|ab|nach|à partir du|après le)\s+{_CYCLE}\s+(\d+)(?!\s*(?:to|until|-|–|bis|à)\b)"
     rf"|\b{_CYCLE}\s+(?:after|from|beyond|ab|nach|après)\s+(\d+)", (0, None)),
)  # fmt: skip
"""Parts of the cycles, and which number of each is the first and the last."""
_SKIPS = (
    rf"\b(?:skip|without|ignore|drop|except|leave out|exclude|ohne|sans|sauf)\s+(?:the\s+|die\s+|den\s+|les\s+|le\s+)?"
    rf"(?:first|ersten?|premiers?)\s+(?:(\d+)\s+)?{_CYCLE}"
)
_SWAPPED = (
    r"\b(?:swap|switch|exchange|interchange|flip|transpose|tausche?|vertausche?|échange[rz]?|intervertis\w*)\s+"
    r"(?:the\s+|die\s+|les\s+)?"
    r"(?:axes|achsen|x\W{0,3}(?:and|und|et|with)?\W{0,3}y(?:[- ]?(?:axes|axis|achsen?))?)(?!\w)"
    r"|\b(?:with\s+)?(?:the\s+)?(?:axes|x and y(?: ax[ei]s)?)\s+(?:swapped|exchanged|interchanged|flipped)\b"
    r"|\bachsen\s+(?:ver)?tauschen\b|(?:交换|互换|对调)\S{0,4}轴"
)
_REVERSED = r"\b(?:reverse|invert|flip|reversed|inverted|umkehren|umgekehrte?|inverse[rz]?)\b"
_ZERO = (
    r"[^,;.\d]{0,12}?\b(?:start\w*|begin\w*|from|beginn\w*|commenc\w*)"
    r"\s*(?:at|with|bei|mit|à)?\s*(?:0|zero|null|zéro)(?![\d.,]|\s*(?:to|bis|à|-))"
)
_LEGEND = r"(?:\blegende?\b|\blégende\b|\bleyenda\b|图例)"
_PLACES = {
    "none": r"(?:\b(?:no|without|hide|remove|delete|drop|omit|turn off|switch off)(?: the| a)?"
    r"|\b(?:ohne|keine|entferne|lösche|verstecke|sans|supprime[rz]?|enlève[rz]?|retire[rz]?|masque[rz]?|sin|quita)"
    r"(?: die| eine| la| le)?|不要|无|去掉|隐藏|删除)\s*" + _LEGEND + r"(?:\s+(?:weg|aus)\b)?",
    "bottom": _LEGEND
    + r"\W+(?:\w+\W+){0,3}?(?:bottom|below|beneath|underneath|under|unten|unter|bas|dessous|abajo)\b|图例\S{0,4}[下底]",
    "top": _LEGEND + r"\W+(?:\w+\W+){0,3}?(?:top|above|oben|über|haut|dessus|arriba)\b|图例\S{0,4}[上顶]",
    "left": _LEGEND + r"\W+(?:\w+\W+){0,3}?(?:left|links|gauche|izquierda)\b|图例\S{0,4}左",
    "right": _LEGEND + r"\W+(?:\w+\W+){0,3}?(?:right|rechts|droite|derecha)\b|图例\S{0,4}右",
}
_LINE = r"\b(?:line|linie|ligne|línea)\s+(?:at|bei|à|en|of)\s+(?:cycle\s+|zyklus\s+)?" + _NUMBER
_LINE_ZH = r"在?\s*" + _NUMBER + r"\s*%?\s*处?(?:画|加|的)?(?:一条)?(?:水平|参考|竖|垂直)?线"
_UPRIGHT = r"vertical|senkrecht|cycle|zyklus|竖|垂直"
_MODES = {
    "markers": r"\b(?:as|just|make it|als|nur|en|comme)\s+(?:points|dots|markers|punkte|nuage de points)\b|散点"
    r"|\b(?:with |mit |avec )?(?:only (?:markers|points|dots|symbols)|(?:markers|points|dots|symbols|punkte|marqueurs) "
    r"(?:only|alone|seuls))(?:\W+(?:no|without) lines?)?\b|\b(?:no|without|ohne|sans) (?:lines?|linien|lignes?)$",
    "lines+markers": r"\b(?:with|and|mit|und|avec|et)\s+(?:des\s+)?(?:markers|points|symbols|punkten|symbolen"
    r"|markern|marqueurs)\b|带标记点?|加标记点?|加点",
    "lines": r"\b(?:as|only|just|als|nur|comme)\s+(?:lines?|linien?|lignes?)\b|只用线",
}
_THICK = (
    r"\b(?:thick(?:er)?|bold(?:er)?|dickere|dicke|fette)\s+(?:lines?|linien?)\b"
    r"|\b(?:lines?|linien?)\s+(?:\w+\s+){0,2}?(?:thick(?:er)?|bold(?:er)?|dicker)\b"
    r"|\blignes? (?:plus )?épaisses?\b|[加更]粗"
)
_THIN = (
    r"\b(?:thin(?:ner)?|fine(?:r)?|dünnere|dünne|feine)\s+(?:lines?|linien?)\b"
    r"|\b(?:lines?|linien?)\s+(?:\w+\s+){0,2}?(?:thin(?:ner)?|dünner)\b|\blignes? (?:plus )?fines?\b|[变更]细"
)
_GRID = r"\s*(?:the |a |das |ein |la )?(?:grid(?:[- ]?lines)?|gitter(?:linien)?|grille|网格线?)"
_LARGER = r"\b(?:bigger|larger|größere|plus grande)\s+(?:font|text|letters|labels|schrift|police)\b|字体?更?大"
_SMALLER = r"\b(?:smaller|kleinere|plus petite)\s+(?:font|text|letters|labels|schrift|police)\b|字体?更?小"
_FONT = (
    r"\b(?:font size|schriftgröße|taille de (?:la )?police|字号|字体大小)\s*(?:of|to|von|auf|de|à|为)?\s*"
    + _NUMBER
)
_UNTITLED = (
    r"\b(?:no|without(?: a)?|(?:remove|delete|hide|drop)(?: the)?|ohne|kein(?:en)?|entferne den|lösche den|sans"
    r"|(?:supprime|enlève|retire) le|sin)\s+(?:title|titel|titre|título)\b"
    r"|不要标题|无标题"
)


class Reader:
    """Reads the look out of a wish; `rest` is what the wish says besides."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self.look: Look = {}
        self._words()
        self._order()
        self._units()
        self._ranges()
        self._scales()
        self._others()

    def _take(self, pattern: str) -> re.Match[str] | None:
        """The first place that fits; it is gone from the rest."""
        found = re.search(pattern, self.rest, re.IGNORECASE)
        if found:
            self.rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}"
        return found

    def _words(self) -> None:
        if self._take(_UNTITLED):
            self.look["title"] = ""
        for letter, axis in _AXES.items():
            named = r"\s*(?:label(?:led)?|titled?|titel|beschriftung|named|called|titre|标题)?"
            found = self._take(
                rf"(?:{_TITLE}|label|beschrifte)?\W*(?:of|der|die|de l')?\s*(?:the\s+)?{axis}{named}{_SET}{_QUOTED}"
            )
            found = found or self._take(
                rf"(?:^|\b)(?:(?:call|name|rename|label)\s+(?:the\s+)?{axis}\s*(?:to|as|label)?\s+"
                rf"|(?:{axis}|\b{letter})\s+(?:label|title|titel|name)\s*(?:to|is|auf|:|=)\s*)['\"]?(?P<a>[^;,'\"\n]+)['\"]?$"
            )
            if found:
                self.look[letter + "_title"] = _text(found)
        if found := self._take(
            r"\b(?:rename|call|name)\s+(?:it|this|the (?:plot|figure|chart))\s+(?:to\s+|as\s+)?(?P<a>[^;\n]+)$"
        ):
            self.look["title"] = _text(found)
            return
        found = self._take(rf"(?:{_TITLE}){_SET}{_QUOTED}")
        if found or (
            found := self._take(
                r"(?:(?:\b(?:set|change|make|setze|ändere|change[rz]?|cambia)\s+(?:the|den|le|el)\s+|^\s*)(?:title|titel|titre"
                r"|título)|(?:把|将)?标题)\s*(?:to|auf|in|en|à|a|改为|设为|为|:|:|=)?\s+?(?P<a>[^;;\n]+)$"
            )
        ):
            self.look["title"] = _text(found)

    def _order(self) -> None:
        """Which way axes run: exchanged, reversed, from zero."""
        if self._take(_SWAPPED):
            self.look["swap"] = True
        for letter, axis in _AXES.items():
            if self._take(rf"{_REVERSED}[^,;.\d]{{0,12}}?{axis}|{axis}\s+{_REVERSED}"):
                self.look[letter + "_reverse"] = True
            if self._take(rf"(?:start\s+)?(?:the\s+|die\s+)?{axis}{_ZERO}|\bstart the {axis} at (?:0|zero)\b"):
                self.look[letter + "_zero"] = True

    def _units(self) -> None:
        """The units that it wants; they stay in the rest, for what they say of the values."""
        found = {}
        for unit, written in _WRITTEN.items():
            long = "|".join(one for one in written.split("|") if not re.fullmatch(r"\(\?-i:.\)", one))
            pattern = (
                rf"(?:(?<!\w)(?:in|en|(?:back|convert\w*|change\w*)\s+(?:it\s+)?to)\s+|单位\S{{0,3}}?\s*|[以用])(?:{written})"
                rf"(?![\w/·²³^-]|\s*(?:per|pro|je|par)\b)|[\[(]\s*(?:{long})\s*[\])]"
            )
            place = re.search(pattern, self.rest, re.IGNORECASE)
            if place:
                found[place.start()] = unit
        if found:
            self.look["units"] = _one_of_each([unit for _, unit in sorted(found.items())])

    def _parts(self) -> None:
        """The part of the cycles or of the time that it wants. Cycles stay in the rest: some recipes choose by them."""
        if found := self._take(_SKIPS):
            self.look["cycles"] = [int(found[1] or 1) + 1, None]
        for pattern, ends in _CYCLES:
            found = None if "cycles" in self.look else re.search(pattern, self.rest, re.IGNORECASE)
            if found:
                numbers = [int(one) for one in found.groups() if one is not None]
                limits = [None if place is None else numbers[place] for place in ends]
                self.look["cycles"] = sorted(limits) if None not in limits else limits
        if "of_unit" not in self.look and (
            found := self._take(
                rf"\b(?:only\s+)?(?:the\s+)?(?:first|ersten?|premi[èe]re?s?)\s+{_NUMBER}\s*({_OF_TIME})(?!\w)"
            )
        ):
            self.look["of_unit"] = [_unit(found[2]), [None, _number(found[1])]]

    def _ranges(self) -> None:
        for letter, axis in _AXES.items():
            found = self._take(rf"{axis}[^\d,;.-]{{0,24}}?{_NUMBER}{_TO}{_NUMBER}\s*(?:%|°\s?c\b|v\b|ah?\b)?")
            if found:
                self.look[letter + "_range"] = sorted(_number(one) for one in found.groups()[-2:])
        units = "|".join(_UNITS.values())
        found = self._take(
            rf"\b(?:between|from|von|zwischen|entre|de|从)\s*{_NUMBER}\s*(?:{units}|%)?\s*(?:and|to|und|bis|et|à|y|a|到|至)"
            rf"\s*{_NUMBER}\s*(?:({units})(?!\w)|(%)(?!\s*(?:soc|dod|state|lade|d'état|荷)))"
        )
        if found:
            limits = sorted(_number(one) for one in found.groups()[:2])
            self.look["of_unit"] = [found[4] or _unit(found[3]), limits]
        self._parts()

    def _scales(self) -> None:
        if self._take(
            r"(?<=\bvs\s)log\b|(?<=\bvs\.\s)log\b|(?<=\bversus\s)log\b|(?<=\bagainst\s)log\b|(?<=\bover\s)log\b"
        ):
            self.look["x_scale"] = "log"
        if self._take(_BOTH):
            self.look |= {"x_scale": "log", "y_scale": "log"}
        for scale, words in (("log", _LOG), ("linear", _LINEAR)):
            for letter, axis in _AXES.items():
                beside = r"[^,;.,。]{0,12}?"
                alone = rf"{words}\s+{letter}\b|^\s*{letter}\s+{words}"
                if self._take(rf"{words}{beside}{axis}|{axis}{beside}{words}\w*|{alone}"):
                    self.look[letter + "_scale"] = scale
        axes = r"\s*-?(?:axis|axes|scale|plot|achsen?|skala|darstellung|坐标轴?|轴|刻度)"
        if self._take(rf"{_LOG}{axes}|\b(?:échelle|axe|escala)\s+{_LOG}|\blogarithmisch\b|^\s*log\s*$"):
            self.look.setdefault("y_scale", "log")
        elif self._take(rf"{_LINEAR}{axes}|\b(?:échelle|axe|escala)\s+{_LINEAR}"):
            self.look.setdefault("y_scale", "linear")

    def _others(self) -> None:
        for place, pattern in _PLACES.items():
            if self._take(pattern):
                self.look["legend"] = place
        for mode, pattern in _MODES.items():
            if self._take(pattern):
                self.look["mode"] = mode
        if self._take(_THICK):
            self.look["width"] = 3
        elif self._take(_THIN):
            self.look["width"] = 1
        for size, pattern in ((16, _LARGER), (10, _SMALLER)):
            if self._take(pattern):
                self.look["font"] = size
        if self._take(
            rf"(?:\b(?:no|without|hide|remove|drop|ohne|kein|entferne|sans|supprime)\b|不要|去掉){_GRID}"
        ):
            self.look["grid"] = False
        elif self._take(rf"(?:\b(?:with|add|show|mit|zeige|avec|ajoute)\b|加){_GRID}"):
            self.look["grid"] = True
        if found := self._take(_FONT):
            self.look["font"] = min(40, max(6, _number(found[1])))
        while found := self._take(
            rf"(?:(?:horizontal|vertical|waagerechte|senkrechte)\s+)?(?:{_LINE}|{_LINE_ZH})\s*%?"
        ):
            value = next(one for one in found.groups() if one is not None)
            letter = "x" if re.search(_UPRIGHT, found[0], re.IGNORECASE) else "y"
            self.look.setdefault("lines", []).append([letter, _number(value)])


def of_wish(text: str) -> Look:
    """The look that a wish asks for."""
    return Reader(written_out(text)).look


def in_words(look: Look) -> list[str]:
    """A look as the person reads it."""
    return list(_in_words(look))


def _in_words(look: Look) -> Iterator[str]:
    for letter in "xy":
        if letter + "_scale" in look:
            yield f"{letter} axis: {'logarithmic' if look[letter + '_scale'] == 'log' else 'linear'}"
        if letter + "_range" in look:
            yield "{} axis: {:g} to {:g}".format(letter, *look[letter + "_range"])
        if letter + "_title" in look:
            yield f"title of the {letter} axis: '{look[letter + '_title']}'"
        if look.get(letter + "_reverse"):
            yield f"{letter} axis: reversed"
        if look.get(letter + "_zero"):
            yield f"{letter} axis: from 0"
    if "swap" in look:
        yield "axes: exchanged" if look["swap"] else "axes: as before"
    if "units" in look:
        yield f"unit: {', '.join(look['units'])}"
    if "of_unit" in look:
        unit, limits = look["of_unit"]
        yield f"axis in {unit}: {_span(limits, '{:g}')}"
    if "cycles" in look:
        yield f"shown: {_span(look['cycles'], 'cycle {}')} (the axis counts from 0)"
    if "grid" in look:
        yield "grid: yes" if look["grid"] else "grid: no"
    for letter, value in look.get("lines", []):
        yield f"line at {letter} = {value:g}"
    if "title" in look:
        yield f"title: '{look['title']}'" if look["title"] else "no title"
    names = {"legend": "legend", "mode": "drawn as", "width": "width of lines", "font": "size of text"}
    yield from (f"{name}: {look[key]}" for key, name in names.items() if key in look)


def _span(limits: Sequence[float | None], form: str) -> str:
    first, last = (None if one is None else form.format(one) for one in limits)
    return f"{first} to {last}" if first and last else f"from {first} on" if first else f"up to {last}"


def _unit(written: str) -> str:
    """The unit that is written so behind a number."""
    return next(unit for unit, words in _UNITS.items() if re.fullmatch(words, written, re.IGNORECASE))


def _one_of_each(units: Sequence[str]) -> list[str]:
    """Of the units of one quantity the last."""
    return list({look_script.LOOK_UNITS[unit][0]: unit for unit in units}.values())


def look_of(script: str) -> Look:
    """The look that a script has been given."""
    _, _, after = script.partition(f"\n\n{MARKER}\n")
    line = next((line for line in after.split("\n") if line.startswith(_LOOK)), "")
    found: Look = literal(line.removeprefix(_LOOK)) if line else {}
    return found


def _joined(old: Look, new: Look) -> Look:
    """A look on top of another: what was said of an axis goes with it where the axes are exchanged."""
    if not new.get("swap"):
        return {**old, **new, **_both_units(old, new)}
    other = {"x": "y", "y": "x"}
    moved = {other[key[0]] + key[1:] if re.match(r"[xy]_", key) else key: value for key, value in old.items()}
    if "lines" in moved:
        moved["lines"] = [[other[letter], value] for letter, value in moved["lines"]]
    return {**moved, **new, **_both_units(old, new), "swap": not old.get("swap", False)}


def _both_units(old: Look, new: Look) -> Look:
    units = _one_of_each([*old.get("units", []), *new.get("units", [])])
    return {"units": units} if units else {}


def dressed(script: str, look: Look) -> str:
    """A script whose figure has a look; a look that it has already is kept where the new one says nothing."""
    before, marked, _ = script.partition(f"\n\n{MARKER}\n")
    tree = tree_of(before)
    name = _DRAWN if marked else "transform"
    made = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name)
    lines = before.rstrip("\n").split("\n")
    if not marked:
        lines[made.lineno - 1] = lines[made.lineno - 1].replace("def transform(", f"def {_DRAWN}(", 1)
    names = ", ".join(one.arg for one in made.args.args)
    _, _, helpers = inspect.getsource(look_script).partition("# The script of the figure\n")
    ends = f"def transform({names}):\n    return with_look({_DRAWN}({names}), LOOK)\n"
    both = _joined(look_of(script), look)
    return "\n".join(lines) + f"\n\n\n{MARKER}\n{_LOOK}{both!r}\n\n\n{_HEAD}{helpers.strip()}\n\n\n{ends}"


def _text(found: re.Match[str]) -> str:
    return next(one for one in found.groupdict().values() if one is not None).strip().strip("'\"")


def _number(text: str) -> float:
    return float(text.replace(",", "."))
