"""What a wish is about: words of four languages, and what of the workbench they mean. It ranks what comes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[a-z\u00df-\u00ff\u0153\d/°]+|[^\W\d_]+")
"""A word in Latin letters, also with accents, or a run of others. Chinese has no spaces."""
_SHORT = 3
"""Words up to this length must be whole words of the wish; longer ones may be the beginning of one."""


@dataclass(frozen=True)
class Topic:
    """A subject of battery research.

    ``words`` are beginnings of words in English, German, French and Chinese; ``names`` are parts of names: of columns,
    sources, protocols and helpers.
    """

    words: tuple[str, ...]
    names: tuple[str, ...]


TOPICS = (
    Topic(
        (
            *(
                "fade",
                "fading",
                "retention",
                "degrad",
                "ageing",
                "aging",
                "aged",
                "lose",
                "loss",
                "soh",
                "health",
                "life",
            ),
            *("kapazitätsverlust", "alterung", "altern", "lebensdauer", "verlust", "gesundheit"),
            *("vieilli", "perte", "durée de vie", "dégrad", "santé"),
            *("衰减", "老化", "寿命", "保持率", "健康"),
        ),
        ("retention", "fade", "end_of_life", "soh", "knee", "of_first", "cycles", "ageing", "life", "rpt"),
    ),
    Topic(
        (
            *("resist", "pulse", "hppc", "dcir", "power"),
            *("widerstand", "puls", "leistung"),
            *("résist", "impulsion", "puissance"),
            *("电阻", "内阻", "脉冲", "功率"),
        ),
        ("pulse", "dcir", "resistance", "power", "hppc", "onset"),
    ),
    Topic(
        (
            *("impedance", "nyquist", "bode", "eis", "spectr", "spectra", "circuit"),
            *("impedanz", "spektr", "ersatzschaltbild"),
            *("impédance", "spectre"),
            *("阻抗", "谱", "等效电路"),
        ),
        ("nyquist_trace", "nyquist", "circuit", "z_re", "z_im", "frequency", "ecm", "eis", "peis", "kk"),
    ),
    Topic(
        (
            *("dq/dv", "dv/dq", "dqdv", "dvdq", "ica", "dva", "incremental", "differential", "peak"),
            *("inkrement", "ableitung"),
            *("incrémental", "dérivée", "différenti"),
            *("增量", "微分", "峰"),
        ),
        ("dqdv", "dvdq", "ic_peaks", "dva", "differential"),
    ),
    Topic(
        (
            *("ocv", "open circuit", "open-circuit", "hysteresis", "relax", "rest"),
            *("leerlauf", "ruhe", "hysterese"),
            *("circuit ouvert", "hystérésis", "repos"),
            *("开路", "滞后", "弛豫", "静置"),
        ),
        ("ocv", "rest", "hysteresis", "relaxation", "stoichiometry", "soc"),
    ),
    Topic(
        (
            *("gitt", "ici", "diffus", "titration"),
            *("扩散", "滴定"),
        ),
        ("gitt", "ici", "diffusion"),
    ),
    Topic(
        (
            *("rate", "c-rate", "crate", "c/", "ragone", "peukert", "fast"),
            *("rate", "schnell", "c-rate", "strom"),
            *("régime", "vitesse"),
            *("倍率", "快充"),
        ),
        ("rate", "peukert", "ragone", "mean discharge current"),
    ),
    Topic(
        (
            *("temperat", "arrhenius", "thermal", "heat", "warm", "cold"),
            *("wärme", "kälte"),
            *("température", "chaleur", "thermique"),
            *("温度", "热"),
        ),
        ("temperature", "arrhenius", "dtv"),
    ),
    Topic(
        (
            *("efficien", "coulomb", "ce"),
            *("wirkungsgrad", "effizienz"),
            *("rendement", "efficacité"),
            *("效率", "库仑"),
        ),
        ("efficiency", "stands_apart"),
    ),
    Topic(
        (
            *("formation", "first cycle"),
            *("formier",),
            *("化成", "首次"),
        ),
        ("formation",),
    ),
    Topic(
        (
            *("calendar", "storage", "self discharge", "self-discharge"),
            *("lagerung", "kalendar", "selbstentladung"),
            *("calendaire", "stockage", "autodécharge"),
            *("日历", "存储", "自放电"),
        ),
        ("calendar", "self_discharge", "storage"),
    ),
    Topic(
        (
            *("simul", "model", "residual", "pybamm"),
            *("modell", "abweichung"),
            *("modèle", "résidu"),
            *("模型", "仿真", "残差"),
        ),
        ("simulations", "model", "simulation"),
    ),
    Topic(
        (
            *("lithium", "electrode", "lli", "lam", "stoichio", "half cell", "half-cell", "material"),
            *("elektrode", "halbzelle", "stöchio"),
            *("électrode", "demi-cellule", "matériau"),
            *("电极", "锂", "半电池", "材料"),
        ),
        ("lam", "lli", "degradation", "stoichiometry", "materials", "materialproperties", "potential"),
    ),
    Topic(
        (
            *("drive", "highway", "urban", "dynamic", "profile"),
            *("fahr", "autobahn", "stadt"),
            *("conduite", "autoroute"),
            *("工况", "驾驶"),
        ),
        ("drive", "dynamic"),
    ),
    Topic(
        (
            *("outlier", "outlying", "scatter", "spread", "compare cells", "variation"),
            *("ausreißer", "streuung"),
            *("aberrant", "dispersion"),
            *("异常", "离散"),
        ),
        ("outliers", "stands_apart", "spread", "mean_and_spread", "band"),
    ),
    Topic(
        (
            *("voltage", "curve", "discharge", "charge"),
            *("spannung", "kurve", "entlad", "lad"),
            *("tension", "courbe", "décharge"),
            *("电压", "曲线", "放电", "充电"),
        ),
        ("voltage", "half_cycles", "charge_passed"),
    ),
    Topic(
        (
            *("mass", "area", "specific", "gravimetric", "energy density", "specification", "design"),
            *("masse", "fläche", "spezifi", "energiedichte"),
            *("massique", "surface", "spécifi"),
            *("质量", "面积", "规格", "能量密度"),
        ),
        ("cellspecifications", "mass", "area", "per_mass", "rating", "energy"),
    ),
)

_RATE = re.compile(r"(?<![a-z0-9_.,-])(?:\d+(?:[.,]\d+)?\s?c|c/\d+)(?![a-z0-9_-])")
"""A rate as people write it: 2C, 0.5 C, C/20. Text is in small letters."""
ANALYSES = {
    "arrhenius": ("arrhenius", "activation energy", "aktivierungsenergie", "énergie d'activation", "活化能"),
    "bode": ("bode",),
    "calendar": ("calendar", "kalendar", "calendaire", "日历"),
    "degradation_modes": ("lli", "lam", "degradation mode", "modes de dégradation", "活性材料损失", "锂损失"),
    "drt": ("drt", "relaxation times", "relaxationszeit", "temps de relaxation", "弛豫时间"),
    "dvdq": ("dv/dq", "dvdq", "dva"),
    "early_life": ("predict", "forecast", "vorhersage", "prognose", "prédi", "prévi", "预测"),
    "efficiency": ("efficienc", "wirkungsgrad", "effizienz", "rendement", "efficacité", "效率"),
    "end_of_life": ("end of life", "end-of-life", "eol", "lebensende", "fin de vie", "寿命终止"),
    "eol_extrapolation": ("extrapol", "hochrechn", "外推"),
    "capacity_by_step": (
        *("cv share", "cv part", "cv-phase", "cv-anteil", "cv phase", "constant voltage", "konstantspannung"),
        *("tension constante", "phase cv", "part cv", "恒压", "cv 段"),
    ),
    "end_labels": (
        *(
            "label",
            "end of each",
            "end of every",
            "end of the line",
            "line end",
            "ends of",
            "beschrift",
            "am ende jeder",
            "linienende",
        ),
        *("étiquet", "au bout de", "标注", "线末"),
    ),
    "equivalent_cycles": ("equivalent full", "equivalent cycle", "vollzyklen", "cycles équivalents", "等效循环"),
    "gitt": ("gitt", "diffusion", "titration", "扩散", "滴定"),
    "kk": ("kramers", "kronig"),
    "knee": ("knee", "knie", "kniepunkt", "genou", "coude", "拐点", "膝点"),
    "outliers": ("outlier", "ausreißer", "aberrant", "异常"),
    "peukert": ("peukert",),
    "pulse_resistance": ("pulse resistance", "pulswiderst", "résistance d'impulsion", "脉冲电阻", "脉冲内阻"),
    "rate_capability": ("ragone", "rate capab", "c-rate", "ratenfähig", "倍率"),
    "relaxation": ("relaxation", "relaxier", "弛豫"),
    "stands_apart": ("outlier", "outlying", "ausreißer", "aberrant", "异常"),
    "self_discharge": ("self-discharge", "self discharge", "selbstentlad", "autodécharge", "自放电"),
}
"""What a wish calls one analysis: beginnings of words, or words, in English, German, French and Chinese."""


class Wish:
    """The words of a wish, and how near a name is to them."""

    def __init__(self, text: str) -> None:
        self.text = text.casefold()
        self.words = _WORD.findall(self.text)
        if _RATE.search(self.text):
            self.words.append("c-rate")
        self.meant = [topic.names for topic in TOPICS if any(map(self._says, topic.words))]
        self.named = frozenset(name for name, words in ANALYSES.items() if any(map(self._says, words)))

    def _says(self, word: str) -> bool:
        word = word.casefold()
        if not word.isascii() and len(word) <= _SHORT + 1 and not any("a" <= sign <= "z" for sign in word):
            return word in self.text  # Chinese has no spaces
        if " " in word or "/" in word or "-" in word:
            return word in self.text or word in self.words
        return any(one == word or (len(word) > _SHORT and one.startswith(word)) for one in self.words)

    def nearness(self, *texts: str) -> int:
        """How many names that the wish means, and how many of its own longer words, are in these texts."""
        joined = " ".join(texts).casefold()
        own = sum(len(word) > _SHORT and word in joined for word in set(self.words))
        return 2 * sum(name in joined for names in self.meant for name in names) + own

    def ranked(self, names: Iterable[str]) -> list[str]:
        """The names that are near the wish: first what it calls by name, then those of most of its topics, then in the
        order of the topic."""
        places = {name: [self._place(name, meant) for meant in self.meant] for name in names}
        found = {name: [place for place in held if place is not None] for name, held in places.items()}
        return sorted(
            (name for name in found if found[name] or name in self.named),
            key=lambda name: (name not in self.named, -len(found[name]), min(found[name], default=0)),
        )

    def _place(self, name: str, meant: Sequence[str]) -> int | None:
        """The place of the first part that the name has. Short parts are whole words: `ici` is not in efficiency."""
        words = re.split(r"[^a-z0-9]+", name.casefold())
        there = (part in words if len(part) <= _SHORT else part in name.casefold() for part in meant)
        return next((place for place, found in enumerate(there) if found), None)
