"""Forms of a plot that a wish may ask for, and which recipes can give them: another form is not what was asked."""

from __future__ import annotations

from dataclasses import dataclass

from .matching import Language, said


@dataclass(frozen=True)
class Form:
    """How something is drawn: its name, the words for it, and the recipes whose plot has it."""

    names: dict[Language, str]
    words: tuple[str, ...]
    given_by: frozenset[str] = frozenset()


FORMS = (
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
        frozenset({"fade"}),
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
            "a table of",
            "table of the",
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
                "simulation-error",
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
            *("en fonction + charge cumulée", "随 + 累计容量", "随 + 吞吐"),
        ),
        frozenset({"fade", "resistance-growth"}),
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
)
DETAILS = (
    Form(
        {"en": "a second axis", "de": "eine zweite Achse", "fr": "un second axe", "zh": "第二坐标轴"},
        (
            *("second axis", "second y axis", "right axis", "zweite achse", "zweiten achse", "achse rechts"),
            *("second axe", "deuxième axe", "axe de droite", "第二坐标轴", "双轴", "右轴"),
        ),
    ),
    Form(
        {"en": "the kinds of lines", "de": "die Linienarten", "fr": "les styles de lignes", "zh": "线型"},
        ("dashed", "dotted", "gestrichelt", "gepunktet", "pointillé", "tireté", "虚线"),
    ),
    Form(
        {"en": "the marks", "de": "die Markierungen", "fr": "les repères", "zh": "标记"},
        ("with a dot", "mark the + rest", "markiere + ruhe", "marque + repos", "标记 + 静置", "标出 + 静置"),
    ),
    Form(
        {"en": "the unit", "de": "die Einheit", "fr": "l'unité", "zh": "单位"},
        ("in minutes", "in hours", "in minuten", "in stunden", "in mah", "en minutes", "en heures", "单位"),
        frozenset({"samples"}),
    ),
)
"""What recipes draw in their own way. A plot without it is still what was asked, and the person hears of it."""


def asked(folded: str) -> list[Form]:
    """The forms that a folded wish asks for."""
    return [form for form in FORMS if said(folded, form.words)]


def not_given(folded: str, recipe: str) -> list[Form]:
    """The details that a folded wish asks for and the plot of a recipe does not have."""
    return [form for form in DETAILS if recipe not in form.given_by and said(folded, form.words)]
