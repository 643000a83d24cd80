"""The look that a wish asks for: title, scales and ranges of axes, lines, legend, marks. Each plot can have it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from typing import Any

from .recipes import look as look_script

Look = dict[str, Any]
"""What `recipes.look.with_look` takes; empty if nothing is asked for."""
MARKER = "# The look that was asked for"
_DRAWN = "drawn_before"
_QUOTED = r"""(?:'(?P<a>[^']+)'(?!\w)|"(?P<b>[^"]+)"|[«„“「]\s*(?P<c>[^»“”」]+?)\s*[»“”」])"""
_TITLE = (
    r"\b(?:(?:and|und|et|y|with|mit|avec|con)\s+)?(?:the|a|den|dem|einem|le|un|el)?\s*"
    r"(?:titled?|titel|betitelt|überschrift|titre|intitulée?|titrée?|título|titulad[oa])\b|标题"
)
_SET = r"\s*(?:is|to|auf|ist|as|à|a|为|是|改为|设为|:|:|=)?\s*"
_AXES = {
    "y": r"(?:\by[- ]?(?:axis|achse|range|limits?|lim)\b|\by\s*轴|纵轴|纵坐标"
    r"|\baxe\s+(?:des\s+)?(?:y|ordonnées)\b|\bordonnées?\b"
    r"|\beje\s+y\b|\bvertical axis\b|\bsenkrechte achse\b|\baxe vertical\b)",
    "x": r"(?:\bx[- ]?(?:axis|achse|range|limits?|lim)\b|\bx\s*轴|横轴|横坐标"
    r"|\baxe\s+(?:des\s+)?(?:x|abscisses)\b|\babscisses?\b"
    r"|\beje\s+x\b|\bhorizontal axis\b|\bwaagerechte achse\b|\baxe horizontal\b"
    r"|\b(?:time|frequency|cycle)\s+(?:axis|scale)\b"
    r"|\b(?:zeit|frequenz|zyklen)-?achse\b|\baxe du temps\b|时间轴|频率轴)",
}
_LOG = r"(?:\blog(?:arithmic\w*|arithmisch\w*|arithmique\w*)?\b|对数|\blogarítmic\w*)"
_LINEAR = r"(?:\blinear\w*|\blinéaires?\b|线性|\blineal\w*)"
_BOTH = r"\b(?:log[- ]?log|doppelt-?logarithmisch\w*|double logarithmi\w*)\b|双对数"
_NUMBER = r"(-?\d+(?:[.,]\d+)?)"
_TO = r"\s*(?:%|mΩ|°\s?c|v|ah?|h)?\s*(?:to|and|bis|und|à|et|a|y|到|至|和|-|–|,)\s*"
_UNITS = {"v": "V", "hz": "Hz", "mω": "mΩ", "mohm": "mΩ"}
_LEGEND = r"(?:\blegende?\b|\blégende\b|\bleyenda\b|图例)"
_PLACES = {
    "none": r"(?:\b(?:no|without|hide|remove|delete|drop|omit|turn off|switch off)(?: the| a)?"
    r"|\b(?:ohne|keine|entferne|lösche|verstecke|sans|supprime[rz]?|enlève[rz]?|retire[rz]?|masque[rz]?|sin|quita)"
    r"(?: die| eine| la| le)?|不要|无|去掉|隐藏|删除)\s*" + _LEGEND + r"(?:\s+(?:weg|aus)\b)?",
    "bottom": _LEGEND + r"\W+(?:\w+\W+){0,3}?(?:bottom|below|unten|unter|bas|dessous|abajo)\b|图例\S{0,4}[下底]",
    "top": _LEGEND + r"\W+(?:\w+\W+){0,3}?(?:top|above|oben|über|haut|dessus|arriba)\b|图例\S{0,4}[上顶]",
    "right": _LEGEND + r"\W+(?:\w+\W+){0,3}?(?:right|rechts|droite|derecha)\b|图例\S{0,4}右",
}
_LINE = r"\b(?:line|linie|ligne|línea)\s+(?:at|bei|à|en|of)\s+(?:cycle\s+|zyklus\s+)?" + _NUMBER
_LINE_ZH = r"在?\s*" + _NUMBER + r"\s*%?\s*处?(?:画|加|的)?(?:一条)?(?:水平|参考|竖|垂直)?线"
_UPRIGHT = r"vertical|senkrecht|cycle|zyklus|竖|垂直"
_MODES = {
    "lines+markers": r"\b(?:with|and|mit|und|avec|et)\s+(?:des\s+)?(?:markers|points|symbols|punkten|symbolen"
    r"|markern|marqueurs)\b|带标记点?|加标记点?|加点",
    "lines": r"\b(?:as|only|just|als|nur|comme)\s+(?:lines?|linien?|lignes?)\b|只用线",
    "markers": r"\b(?:as|only|just|make it|als|nur|en|comme)\s+(?:points|dots|markers|punkte|nuage de points)\b|散点",
}
_THICK = (
    r"\b(?:thick(?:er)?|bold(?:er)?|dickere|dicke|fette)\s+(?:lines?|linien?)\b"
    r"|\blignes? (?:plus )?épaisses?\b|[加更]粗"
)
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
            if found:
                self.look[letter + "_title"] = _text(found)
        found = self._take(rf"(?:{_TITLE}){_SET}{_QUOTED}")
        if found or (
            found := self._take(
                r"(?:(?:\b(?:set|change|make|setze|ändere|change[rz]?|cambia)\s+(?:the|den|le|el)\s+|^\s*)(?:title|titel|titre"
                r"|título)|(?:把|将)?标题)\s*(?:to|auf|in|en|à|a|改为|设为|为|:|:|=)?\s+?(?P<a>[^;;\n]+)$"
            )
        ):
            self.look["title"] = _text(found)

    def _ranges(self) -> None:
        for letter, axis in _AXES.items():
            found = self._take(rf"{axis}[^\d,;.-]{{0,24}}?{_NUMBER}{_TO}{_NUMBER}\s*(?:%|°\s?c\b|v\b|ah?\b)?")
            if found:
                self.look[letter + "_range"] = sorted(_number(one) for one in found.groups()[-2:])
        units = "|".join(_UNITS)
        found = self._take(
            rf"\b(?:between|from|von|zwischen|entre|de|从)\s*{_NUMBER}\s*(?:{units})?\s*(?:and|to|und|bis|et|à|y|a|到|至)"
            rf"\s*{_NUMBER}\s*({units})\b"
        )
        if found:
            limits = sorted(_number(one) for one in found.groups()[:2])
            self.look["of_unit"] = [_UNITS[found[3].casefold()], limits]

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
        if found := self._take(_FONT):
            self.look["font"] = min(40, max(6, _number(found[1])))
        while found := self._take(
            rf"(?:(?:horizontal|vertical|waagerechte|senkrechte)\s+)?(?:{_LINE}|{_LINE_ZH})\s*%?"
        ):
            value = next(one for one in found.groups() if one is not None)
            letter = "x" if re.search(_UPRIGHT, found[0], re.IGNORECASE) else "y"
            self.look.setdefault("lines", []).append([letter, _number(value)])


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
    if "of_unit" in look:
        unit, limits = look["of_unit"]
        yield f"axis in {unit}: {limits[0]:g} to {limits[1]:g}"
    for letter, value in look.get("lines", []):
        yield f"line at {letter} = {value:g}"
    if "title" in look:
        yield f"title: '{look['title']}'" if look["title"] else "no title"
    names = {"legend": "legend", "mode": "drawn as", "width": "width of lines", "font": "size of text"}
    yield from (f"{name}: {look[key]}" for key, name in names.items() if key in look)


def dressed(script: str, look: Look) -> str:
    """A script whose figure has a look; a look that it has already is kept where the new one says nothing."""
    before, marked, after = script.partition(f"\n\n{MARKER}\n")
    if marked:
        old = next(line for line in after.split("\n") if line.startswith("LOOK = "))
        both = {**ast.literal_eval(old.removeprefix("LOOK = ")), **look}
        return f"{before}{marked}{after.replace(old, f'LOOK = {both!r}')}"
    tree = ast.parse(script)
    made = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "transform")
    lines = script.rstrip("\n").split("\n")
    lines[made.lineno - 1] = lines[made.lineno - 1].replace("def transform(", f"def {_DRAWN}(", 1)
    names = ", ".join(one.arg for one in made.args.args)
    _, _, helpers = inspect.getsource(look_script).partition("# The script of the figure\n")
    ends = f"def transform({names}):\n    return with_look({_DRAWN}({names}), LOOK)\n"
    return "\n".join(lines) + f"\n\n\n{MARKER}\nLOOK = {look!r}\n\n\n{helpers.strip()}\n\n\n{ends}"


def _text(found: re.Match[str]) -> str:
    return next(one for one in found.groupdict().values() if one is not None).strip().strip("'\"")


def _number(text: str) -> float:
    return float(text.replace(",", "."))
