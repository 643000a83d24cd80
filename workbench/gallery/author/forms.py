"""Forms of a plot that a wish may ask for, and which recipes can give them: another form is not what was asked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .matching import Language, said


@dataclass(frozen=True)
class Form:
    """How something is drawn: its name, the words or the pattern for it, and the recipes whose plot has it.

    ``only`` are the recipes that it is about; empty: all.
    """

    names: dict[Language, str]
    words: tuple[str, ...]
    given_by: frozenset[str] = frozenset()
    pattern: str = ""
    only: frozenset[str] = frozenset()

    def is_asked(self, folded: str) -> bool:
        """Whether a folded wish asks for it."""
        return bool(said(folded, self.words) or (self.pattern and re.search(self.pattern, folded)))


_CHARGED = ("charge capacity", "ladekapazität", "capacité de charge", "capacité chargée", "充电容量")
_OVER = ("cycle", "zykl", "循环")

_MEASURED = (
    r"(?:voltage|current|temperature|energy|power|spannung|strom|temperatur|energie|leistung|tension|courant"
    r"|température|énergie|puissance)"
)
_ACROSS = (
    rf"(?<!\w)(?:against|vs\.?|versus|as a function of|gegen|en fonction (?:de la|du|de l'))"
    rf"\s*(?:the |die |den )?{_MEASURED}(?!\w)"
    r"|随(?:电压|电流|温度|能量)变化"
)

FORMS = (
    Form(
        {
            "en": "values over another measured quantity",
            "de": "Werte über einer anderen Messgröße",
            "fr": "des valeurs selon une autre grandeur mesurée",
            "zh": "随另一测量量的变化",
        },
        (),
        frozenset(
            (
                *("cells", "dq-dv", "ic-peaks", "arrhenius", "ragone", "delta-q", "results", "reversible-loss"),
                *("test-timeline", "power-capability", "simulation", "simulations"),
            )
        ),
        _ACROSS,
    ),
    Form(
        {
            "en": "a picture in three dimensions",
            "de": "ein dreidimensionales Bild",
            "fr": "une image en trois dimensions",
            "zh": "三维图",
        },
        ("3d$", "3-d$", "surface plot", "contour", "waterfall", "three-dimensional", "dreidimensional", "三维"),
    ),
    Form(
        {"en": "a pie chart", "de": "ein Tortendiagramm", "fr": "un camembert", "zh": "饼图"},
        ("pie chart", "as a pie", "donut", "tortendiagramm", "kreisdiagramm", "camembert", "饼图"),
    ),
    Form(
        {
            "en": "a difference or a ratio of two quantities",
            "de": "eine Differenz oder ein Verhältnis zweier Größen",
            "fr": "une différence ou un rapport de deux grandeurs",
            "zh": "两个量的差或比",
        },
        (
            *(
                "minus$",
                "difference between",
                "difference of",
                "subtract",
                "divided by",
                "ratio of",
                "ratio between",
            ),
            *("differenz zwischen", "differenz von", "verhältnis von", "différence entre", "rapport entre"),
            *("之差", "之比"),
        ),
        frozenset(("delta-q", "efficiency", "simulation-residual", "simulation-error", "simulation", "kk", "drt")),
    ),
    Form(
        {"en": "a histogram", "de": "ein Histogramm", "fr": "un histogramme", "zh": "直方图"},
        ("histogram", "distribution", "verteilung", "répartition", "直方图", "分布"),
        frozenset({"cells"}),
    ),
    Form(
        {"en": "a box plot", "de": "ein Boxplot", "fr": "une boîte à moustaches", "zh": "箱线图"},
        ("box plot", "boxplot", "box-plot", "violin", "kastengrafik", "boîte à moustaches", "箱线图", "小提琴图"),
    ),
    Form(
        {"en": "a heat map", "de": "eine Heatmap", "fr": "une carte de chaleur", "zh": "热图"},
        ("heat map", "heatmap", "wärmekarte", "carte de chaleur", "热图", "热力图"),
    ),
    Form(
        {
            "en": "a mean with its spread",
            "de": "ein Mittelwert mit Streuung",
            "fr": "une moyenne et son écart-type",
            "zh": "均值与标准差",
        },
        (
            *("standard deviation", "error bar", "mean and", "mean with", "mittelwert und", "mittelwert mit"),
            *(
                "standardabweichung",
                "fehlerbalken",
                "moyenne et",
                "écart-type",
                "écart type",
                "均值",
                "标准差",
                "误差",
            ),
        ),
        frozenset({"fade", "extremes"}),
    ),
    Form(
        {"en": "a panel for each", "de": "ein Panel für jede", "fr": "un panneau par élément", "zh": "分面子图"},
        (
            *("panel for each", "panel per", "one panel", "a panel each", "subplot", "small multiple", "panel je"),
            *("panel pro", "ein diagramm je", "panneau par", "sous-graphique", "子图", "分面"),
        ),
    ),
    Form(
        {"en": "a table", "de": "eine Tabelle", "fr": "un tableau", "zh": "表格"},
        (
            "as a table",
            "table of",
            "als tabelle",
            "tabelle",
            "en tableau",
            "tableau des",
            "表格",
        ),
    ),
    Form(
        {
            "en": "a moving average",
            "de": "ein gleitender Mittelwert",
            "fr": "une moyenne glissante",
            "zh": "滑动平均",
        },
        (
            "moving average",
            "rolling mean",
            "gleitend",
            "moyenne glissante",
            "moyenne mobile",
            "滑动平均",
            "移动平均",
        ),
    ),
    Form(
        {"en": "bars", "de": "Balken", "fr": "des barres", "zh": "柱状图"},
        (
            *("as bars", "bar chart", "bar graph", "bar for", "bar per", "horizontal bar", "balken", "säulen"),
            *("barres", "柱状图", "条形图"),
        ),
        frozenset(
            (
                *("end-of-life", "counts", "cells", "capacity-by-step", "circuit", "formation", "self-discharge"),
                *("simulation-error", "extremes"),
            )
        ),
    ),
    Form(
        {"en": "a simulation", "de": "eine Simulation", "fr": "une simulation", "zh": "仿真"},
        ("simulation", "simulated", "simuliert", "simulé", "仿真", "模拟"),
        frozenset({"simulation", "simulation-error", "simulation-residual", "simulations"}),
    ),
    Form(
        {
            "en": "values over the throughput",
            "de": "Werte über dem Durchsatz",
            "fr": "des valeurs selon la charge cumulée",
            "zh": "随累计容量的变化",
        },
        (
            *("against + throughput", "over + throughput", "versus + throughput", "über + durchsatz"),
            *("against + equivalent full", "over + equivalent full", "versus + equivalent full"),
            *("vs + equivalent full", "vs + throughput", "vs + efc$", "over + efc$", "against + efc$"),
            *("en fonction + charge cumulée", "随 + 累计容量", "随 + 吞吐"),
        ),
        frozenset({"fade", "resistance-growth"}),
    ),
    Form(
        {
            "en": "values over days",
            "de": "Werte über Tagen",
            "fr": "des valeurs selon les jours",
            "zh": "随天数的变化",
        },
        (
            *(
                "calendar days",
                "calendar time",
                "over days",
                "over the days",
                "against days",
                "vs days",
                "vs. days",
            ),
            *("time in days", "age in days", "zeit in tagen", "temps en jours"),
            *("versus days", "kalendertag", "über die tage", "über den tagen", "gegen die tage"),
            *("jours calendaires", "en fonction des jours", "selon les jours", "日历天", "随天数"),
        ),
        frozenset({"resistance-growth", "reversible-loss", "self-discharge", "samples", "test-timeline"}),
    ),
    Form(
        {
            "en": "values over the C-rate",
            "de": "Werte über der C-Rate",
            "fr": "des valeurs selon le régime",
            "zh": "随倍率的变化",
        },
        (
            *("against + c-rate", "over the c-rate", "versus + c-rate", "vs + c-rate", "über der c-rate"),
            *("gegen + c-rate", "en fonction du régime", "随 + 倍率"),
        ),
        frozenset({"rate-capability"}),
    ),
    Form(
        {
            "en": "the highest temperature of each cycle",
            "de": "die höchste Temperatur jedes Zyklus",
            "fr": "la température maximale de chaque cycle",
            "zh": "每次循环的最高温度",
        },
        (
            *("maximum + temperature + cycle", "max$ + temperature + cycle", "highest + temperature + cycle"),
            *("höchste + temperatur + zykl", "maximal + temperatur + zykl", "maximal + température + cycle"),
            *("最高温度 + 循环", "最高 + 温度 + 循环"),
        ),
    ),
    Form(
        {
            "en": "the lowest temperature of each cycle",
            "de": "die niedrigste Temperatur jedes Zyklus",
            "fr": "la température minimale de chaque cycle",
            "zh": "每次循环的最低温度",
        },
        (
            *("minimum + temperature + cycle", "min$ + temperature + cycle", "lowest + temperature + cycle"),
            *("niedrigste + temperatur + zykl", "minimal + temperatur + zykl", "minimal + température + cycle"),
            "最低 + 温度 + 循环",
        ),
    ),
    Form(
        {"en": "the mean voltage", "de": "die mittlere Spannung", "fr": "la tension moyenne", "zh": "平均电压"},
        (
            *("mean voltage", "average voltage", "mean discharge voltage", "average discharge voltage"),
            *("mean charge voltage", "average charge voltage", "mittlere spannung", "durchschnittliche spannung"),
            *("mittlere entladespannung", "mittlere ladespannung", "tension moyenne", "平均电压"),
        ),
    ),
    Form(
        {
            "en": "the highest or lowest current of each cycle",
            "de": "den größten oder kleinsten Strom jedes Zyklus",
            "fr": "le courant maximal ou minimal de chaque cycle",
            "zh": "每次循环的最大或最小电流",
        },
        (
            *("max current", "max. current", "maximum current", "highest current", "peak current"),
            *("min current", "min. current", "minimum current", "lowest current", "maximale strom"),
            *("maximaler strom", "minimale strom", "minimaler strom", "größte strom", "größter strom"),
            *("courant maximal", "courant minimal", "最大电流", "最小电流"),
        ),
        frozenset({"samples", "test-timeline", "extremes"}),
    ),
    Form(
        {
            "en": "the charge capacity of each cycle",
            "de": "die Ladekapazität jedes Zyklus",
            "fr": "la capacité de charge de chaque cycle",
            "zh": "每次循环的充电容量",
        },
        tuple(f"{what} + {over}" for what in _CHARGED for over in _OVER),
        frozenset({"cycles", "efficiency", "formation", "reversible-loss", "capacity-by-step", "voltage-curves"}),
    ),
)
_UNITS = (
    r"(?:h|hrs?|hours?|min|mins|minutes?|s|sec|seconds?|d|days?|stunden?|minuten?|sekunden?|tagen?|tage?"
    r"|heures?|secondes?|jours?)(?!\w)"
)
_COUNT = r"\d+(?:[.,]\d+)?"
_UNIT_FIRST = r"(?:hours?|minutes?|days?|stunden?|minuten?|tage?|heures?|jours?)"
_PERCENT = r"(?:%|percent|per cent|prozent|pour cent)"
_STATE = r"(?:soc(?!\w)|state of charge|ladezustand|d'état de charge|荷电状态)"
_PULSES = frozenset({"dcir", "resistance-growth", "power-capability"})


def _of_each_group(en: str, de: str, fr: str, zh: str) -> str:
    """The pattern of such a value for each batch or design."""
    return (
        rf"(?<!\w)(?:{en})\s(?:[\w-]+\s){{0,4}}?(?:per|by|of each|for each|of every|of the)\s(?:batch|group|design)"
        rf"|(?<!\w)(?:{de})\s(?:[\w-]+\s){{0,4}}?(?:je|pro|jeder|jedes|nach)\s(?:charge|batch|gruppe|design)"
        rf"|(?<!\w)(?:{fr})\s(?:[\w-]+\s){{0,4}}?(?:par|de chaque)\s(?:lot|groupe|type)"
        rf"|(?:每批|每个批次|各批次|按批次).{{0,8}}(?:{zh})"
    )


_PARTS_OF_TIME = (
    rf"(?:between|from|first|last|until|zwischen|von|ersten?|letzten?|bis|entre|de|premières?|dernières?)"
    rf"\s(?:the\s|den\s|les\s)?{_COUNT}\s*(?:{_UNITS})?(?:\s*(?:to|and|-|–|bis|und|à|et)\s*{_COUNT})?\s*{_UNITS}"
    rf"|(?<!\w){_UNIT_FIRST}\s{_COUNT}\s*(?:to|and|-|–|bis|und|à|et)\s*(?:{_UNIT_FIRST}\s)?{_COUNT}"
    rf"|(?<!\w)(?:after|before|nach|vor|après|avant)\s(?:the\s(?:first\s)?)?{_COUNT}\s*{_UNITS}"
    r"|第?\s*\d+\s*(?:到|至|-)\s*第?\s*\d+\s*(?:小时|分钟|秒)"
)
STYLES = (
    Form(
        {"en": "the colours", "de": "die Farben", "fr": "les couleurs", "zh": "颜色"},
        (
            "change the colo",
            "other colo",
            "different colo",
            "viridis",
            "farben ändern",
            "change les couleurs",
            "颜色",
        ),
        pattern=r"(?<!\w)(?:in|as|to|colou?r\w*(?: [\w-]+){0,2})\s(?:dark |light )?(?:red|blue|green|black|grey|gray"
        r"|orange|purple|yellow|pink|brown)(?!\w)|(?<!\w)in (?:rot|blau|grün|schwarz|grau)(?!\w)"
        r"|(?<!\w)en (?:rouge|bleu|vert|noir)(?!\w)",
    ),
    Form(
        {"en": "the background", "de": "der Hintergrund", "fr": "le fond", "zh": "背景"},
        ("background", "dark mode", "dark theme", "hintergrund", "背景"),
    ),
    Form(
        {
            "en": "labels at the lines",
            "de": "Namen an den Linien",
            "fr": "des noms au bout des lignes",
            "zh": "线端标签",
        },
        ("direct label", "annotate"),
        pattern=r"labels? (?:at|on) the lines|ends? of (?:the )?lines|lines? ends?",
    ),
    Form(
        {"en": "the kinds of lines", "de": "die Linienarten", "fr": "les styles de lignes", "zh": "线型"},
        ("dashed", "dotted", "gestrichelt", "gepunktet", "pointillé", "tireté", "虚线"),
    ),
)
"""How a plot looks, where no plot can be given that look."""
DETAILS = (
    *STYLES,
    Form(
        {
            "en": "a mean of each group",
            "de": "ein Mittelwert je Gruppe",
            "fr": "une moyenne par groupe",
            "zh": "每组的均值",
        },
        (),
        frozenset({"fade", "extremes"}),
        _of_each_group("average|averaged|mean", r"durchschnitt\w*|mittler\w*|mittelwert", r"moyenn\w*", "平均"),
    ),
    Form(
        {
            "en": "a median of each group",
            "de": "ein Median je Gruppe",
            "fr": "une médiane par groupe",
            "zh": "每组的中位数",
        },
        (),
        frozenset(),
        _of_each_group("median", r"median\w*", r"médiane\w*", "中位"),
    ),
    Form(
        {
            "en": "only the best or worst",
            "de": "nur die besten oder schlechtesten",
            "fr": "seulement les meilleures ou les pires",
            "zh": "只选最好或最差的",
        },
        (
            *("worst", "best cell", "best one", "best two", "best three", "best 2", "best 3", "best 5"),
            *("schlechteste", "beste zelle", "besten zelle", "pires", "meilleures", "meilleure", "最差", "最好"),
        ),
    ),
    Form(
        {"en": "the state of charge", "de": "der Ladezustand", "fr": "l'état de charge", "zh": "荷电状态"},
        (),
        frozenset({"resistance-growth"}),
        rf"{_COUNT}\s*{_PERCENT}\s*{_STATE}|{_STATE}\s*(?:of|=|von|de|at|为)?\s*{_COUNT}\s*{_PERCENT}",
    ),
    Form(
        {"en": "the frequency", "de": "die Frequenz", "fr": "la fréquence", "zh": "频率"},
        (),
        frozenset(),
        rf"{_COUNT}\s*(?:k|m)?hz(?!\w)|{_COUNT}\s*(?:赫兹|千赫)",
    ),
    Form(
        {
            "en": "the time in the pulse (it is 10 s)",
            "de": "die Zeit im Puls (es sind 10 s)",
            "fr": "le temps dans l'impulsion (10 s)",
            "zh": "脉冲中的时间(为 10 秒)",
        },
        (),
        frozenset(),
        rf"(?<![\w.,])(?!10(?:[.,]0)?\s*-?\s*(?:s|sec|seconds?|sekunden?|secondes?|秒)(?!\w)){_COUNT}\s*-?\s*"
        r"(?:(?:m?s|sec|seconds?|min|minutes?|sekunden?|minuten?|secondes?)(?!\w)|秒|毫秒|分钟)",
        only=_PULSES,
    ),
    Form(
        {"en": "a second axis", "de": "eine zweite Achse", "fr": "un second axe", "zh": "第二坐标轴"},
        (
            *("second axis", "second y axis", "right axis", "zweite achse", "zweiten achse", "achse rechts"),
            *("second axe", "deuxième axe", "axe de droite", "第二坐标轴", "双轴", "右轴"),
        ),
    ),
    Form(
        {
            "en": "which of the tests, by its number",
            "de": "der wievielte Test",
            "fr": "l'essai d'après son numéro",
            "zh": "第几次测试",
        },
        (),
        pattern=r"(?<!\w)(?:\d+(?:st|nd|rd|th|\.)|second|third|fourth|fifth|zweite[rn]?|dritte[rn]?|deuxième|troisième)\s"
        r"(?:check-?\s?up|rpts?|hppc|test|messung|essai)(?!\w)",
    ),
    Form(
        {
            "en": "dV/dQ (it is dQ/dV)",
            "de": "dV/dQ (es ist dQ/dV)",
            "fr": "dV/dQ (c'est dQ/dV)",
            "zh": "dV/dQ(为 dQ/dV)",
        },
        ("dv/dq", "dvdq", "dva$", "differential voltage", "differentielle spannung", "tension différentielle"),
        only=frozenset({"dq-dv", "ic-peaks"}),
    ),
    Form(
        {"en": "the rated capacity", "de": "die Nennkapazität", "fr": "la capacité nominale", "zh": "额定容量"},
        (
            "rated capacity",
            "nominal capacity",
            "nennkapazität",
            "capacité nominale",
            "capacité assignée",
            "额定容量",
        ),
        frozenset({"ragone"}),
    ),
    Form(
        {
            "en": "charge and discharge in one plot",
            "de": "Laden und Entladen in einer Darstellung",
            "fr": "charge et décharge dans un graphique",
            "zh": "充电和放电同图",
        },
        (),
        pattern=r"(?<!\w)(?:dis)?charge (?:and|und|et|vs\.?|versus|against) (?:dis)?charge (?:capacit|energ)"
        r"|(?<!\w)(?:lade|entlade)- ?und (?:ent)?ladekapazität|充放电容量",
        only=frozenset({"cycles", "fade"}),
    ),
    Form(
        {"en": "the rate of fade", "de": "die Rate des Verlusts", "fr": "la vitesse de perte", "zh": "衰减速率"},
        (
            *("fade rate", "rate of fade", "degradation rate", "slope", "derivative", "per 100 cycles"),
            *("steigung", "verlustrate", "pro 100 zyklen", "je 100 zyklen", "pente", "vitesse de perte"),
            *("par 100 cycles", "衰减速率", "斜率"),
        ),
        only=frozenset({"fade", "cycles"}),
    ),
    Form(
        {"en": "the axis of time", "de": "die Zeitachse", "fr": "l'axe du temps", "zh": "时间轴"},
        (
            "against time",
            "vs time",
            "vs. time",
            "versus time",
            "gegen die zeit",
            "en fonction du temps",
            "时间为横轴",
        ),
        only=frozenset({"fade", "cycles", "efficiency", "end-of-life"}),
    ),
    Form(
        {"en": "the duration", "de": "die Dauer", "fr": "la durée", "zh": "时长"},
        ("duration", "how long", "dauer", "durée", "时长", "多长时间"),
        only=frozenset({"capacity-by-step", "voltage-curves", "fade", "efficiency"}),
    ),
    Form(
        {
            "en": "the energy per mass or volume",
            "de": "die Energie je Masse oder Volumen",
            "fr": "l'énergie par masse ou volume",
            "zh": "能量密度",
        },
        ("specific energy", "energy density", "wh/kg", "wh/l$", "energiedichte", "énergie massique", "能量密度"),
        frozenset({"ragone"}),
    ),
    Form(
        {"en": "the marks", "de": "die Markierungen", "fr": "les repères", "zh": "标记"},
        ("with a dot", "mark the + rest", "markiere + ruhe", "marque + repos", "标记 + 静置", "标出 + 静置"),
    ),
    Form(
        {"en": "the range of time", "de": "der Zeitraum", "fr": "l'intervalle de temps", "zh": "时间范围"},
        (),
        frozenset({"dcir", "resistance-growth", "power-capability", "self-discharge", "ocv-from-rests"}),
        _PARTS_OF_TIME,
    ),
)
"""What recipes draw in their own way. A plot without it is still what was asked, and the person hears of it."""
COUNTED = Form(
    {
        "en": "which of them are counted",
        "de": "welche davon gezählt werden",
        "fr": "lesquels sont comptés",
        "zh": "只计其中一部分",
    },
    (),
)
"""A choice of tests or cells that a wish names, where the plot counts all."""
GROUPING = Form({"en": "the grouping", "de": "die Gruppen", "fr": "le groupement", "zh": "分组"}, ())
"""What a wish counts by, where the plot cannot count by it."""
LIMIT = Form({"en": "the limit", "de": "die Grenze", "fr": "la limite", "zh": "限值"}, ())
"""A percentage that a wish names as a limit, where the plot marks none."""
OTHER_AXIS = Form(
    {
        "en": "the values against another property",
        "de": "die Werte über einer anderen Eigenschaft",
        "fr": "les valeurs selon une autre propriété",
        "zh": "随另一属性的变化",
    },
    (),
)
"""What a wish wants a property of cells against, where only texts are noted of it, or nothing at all."""
UNIT = Form({"en": "the unit", "de": "die Einheit", "fr": "l'unité", "zh": "单位"}, ())
"""A unit that a wish names, where no axis measures that."""
PART = Form(
    {"en": "the part of an axis", "de": "der Ausschnitt", "fr": "l'intervalle de l'axe", "zh": "坐标轴范围"}, ()
)
"""A part of an axis that a wish names by its unit, where no axis has it."""
CYCLES = Form(
    {"en": "the cycles", "de": "die Zyklen", "fr": "les cycles", "zh": "循环"},
    (),
    frozenset({"delta-q"}),  # its axis names those that it compares
    r"(?<!\w)(?:first|last|ersten?|letzten?|premiers?|derniers?)\s\d+\s(?:cycles?|zyklen)"
    r"|(?<!\w)(?:every|each|alle|tous les)\s(?:\d+(?:st|nd|rd|th)?|other)\s?(?:cycles?|zyklen)"
    r"|(?<!\w)(?:last|latest|final|letzte[nrs]?|dernière?|dernier)\s"
    r"(?:discharge|charge|half cycle|cycle|zyklus|entladung|ladung|décharge)(?!\w)"
    r"|(?:最后|前|最初)\s*\d*\s*(?:次|个)?(?:循环|放电|充电)",
)
"""Cycles that a wish names, by their numbers or as the first or last, where the plot cannot choose them."""


LOOKS = {"units": UNIT, "of_unit": PART, "cycles": CYCLES}
"""Part of a look -> what the plot does not have, where no axis of it takes that part."""


def asked(folded: str) -> list[Form]:
    """The forms that a folded wish asks for."""
    return [form for form in FORMS if form.is_asked(folded)]


def styled(folded: str) -> list[Form]:
    """The looks that a folded wish asks for and no plot can be given."""
    return [form for form in STYLES if form.is_asked(folded)]


def not_given(folded: str, recipe: str) -> list[Form]:
    """The details that a folded wish asks for and the plot of a recipe does not have."""
    about = (form for form in DETAILS if recipe not in form.given_by and (not form.only or recipe in form.only))
    return [form for form in about if form.is_asked(folded)]
