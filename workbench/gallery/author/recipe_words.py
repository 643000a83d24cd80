"""The words that mean a recipe of the gallery, in English, German, French and Chinese.

A recipe that is not here is still found by its title.
"""

from __future__ import annotations

WORDS: dict[str, tuple[str, ...]] = {
    "fade": (
        *(
            "capacity fade",
            "capacity fading",
            "fade$",
            "fading",
            "capacity loss",
            "capacity retention",
            "retention",
        ),
        *(
            "state of health",
            "soh$",
            "degrad",
            "capacity over cycle",
            "capacity per cycle",
            "capacity against cycle",
        ),
        *("capacity vs cycle", "capacity versus cycle", "capacity with cycle", "fade fastest", "capacity evolve"),
        *("capacity + ageing cycle", "capacity + aging cycle"),
        *("kapazitätsverlust", "kapazitätserhalt", "kapazitätsabnahme", "kapazität über", "kapazität je zyklus"),
        *("alterung der zelle", "kapazitätsschwund", "perte de capacité", "rétention de capacité", "dégradation"),
        *("capacité en fonction", "capacité par cycle", "capacité au fil", "vieillissement"),
        *("容量衰减", "容量保持", "容量损失", "容量随循环", "衰减", "健康状态"),
    ),
    "end-of-life": (
        *("at which cycle", "in which cycle", "from which cycle", "ab welchem zyklus", "bei welchem zyklus"),
        *("à partir de quel cycle", "à quel cycle", "第几次循环", "哪个循环"),
        *("end of life", "end-of-life", "eol$", "how long do cells last", "cycle life of", "lifetime", "reach 80"),
        *(
            "lebensdauerende",
            "lebensende",
            "lebensdauer",
            "fin de vie",
            "durée de vie",
            "寿命终止",
            "寿命",
            "循环寿命",
        ),
    ),
    "knee": ("knee", "knie", "kniepunkt", "coude", "genou", "拐点", "跳水"),
    "outliers": (
        *("outlier", "differ from the others", "unusual cell", "odd cell", "abnormal cell", "spread of the cells"),
        *("ausreißer", "ausreisser", "auffällige zelle", "aberrant", "anormal", "异常", "离群"),
    ),
    "reversible-loss": (
        *(
            "check-up capacity",
            "capacity of check-ups",
            "capacity at each check",
            "capacity in check",
            "rpt capacity",
        ),
        *(
            "capacity of the check",
            "capacity at check",
            "capacity from the rpt",
            "capacity of rpt",
            "reversible loss",
        ),
        *(
            "capacity of the rpt",
            "capacity in the rpt",
            "reversible",
            "kapazität der check",
            "kapazität in den check",
        ),
        *("kapazität der rpt", "capacité des contrôles", "capacité des rpt", "capacité aux contrôles"),
        *("capacity + check-up", "capacity + rpt", "kapazität + check-up", "kapazität + rpt", "capacité + rpt"),
        *("容量 + rpt",),
        *("rpt容量", "rpt 容量", "参考性能测试的容量", "可逆"),
    ),
    "degradation-modes": (
        *("degradation mode", "lli and lam", "loss of lithium", "loss of active", "lithium inventory"),
        *("degradationsmoden", "alterungsmoden", "lithiumverlust", "modes de dégradation", "perte de lithium"),
        *("衰减模式", "锂损失", "活性锂"),
    ),
    "dq-dv": (
        *("dq/dv", "dqdv", "incremental capacity", "dv/dq", "differential capacity", "ica$"),
        *("inkrementelle kapazität", "differentielle kapazität", "capacité incrémentale", "增量容量", "微分容量"),
    ),
    "ic-peaks": ("peaks of dq/dv", "dq/dv peak", "ic peak", "peak height", "peaks der", "pics de", "增量容量峰"),
    "voltage-curves": (
        *(
            "voltage curve",
            "voltage profile with age",
            "charge curve",
            "discharge curve",
            "charge and discharge curve",
        ),
        *("voltage against capacity", "voltage vs capacity", "voltage versus capacity", "voltage over capacity"),
        *("spannungskurve", "ladekurve", "entladekurve", "entladekurven", "lade- und entladekurve"),
        *("spannung über der kapazität", "courbe de tension", "courbes de tension", "courbe de décharge"),
        *("courbes de décharge", "courbes de charge", "tension en fonction de la capacité"),
        *("电压曲线", "放电曲线", "充放电曲线", "充电曲线", "电压-容量"),
    ),
    "dcir": (
        *(
            "dcir",
            "resistance by state of charge",
            "resistance at each soc",
            "resistance over soc",
            "pulse resistance",
        ),
        *(
            "internal resistance",
            "resistance vs soc",
            "resistance against state of charge",
            "resistance versus soc",
        ),
        *("resistance against soc", "resistance over state of charge", "resistance by soc", "dc resistance"),
        *("innenwiderstand", "pulswiderstand", "widerstand über", "gleichstromwiderstand"),
        *("resist + state of charge", "resist + soc$", "widerstand + ladezustand", "widerstand + soc$"),
        *("résistance + état de charge", "电阻 + 荷电状态"),
        *("résistance interne", "résistance en fonction", "résistance par", "内阻", "直流内阻", "脉冲电阻"),
    ),
    "resistance-growth": (
        *(
            "resistance growth",
            "growth of resistance",
            "resistance increase",
            "resistance grow",
            "resistance rise",
        ),
        *("increase of resistance", "increase in resistance", "resistance with age", "resistance over ageing"),
        *("resistance increases", "widerstandszunahme", "widerstandsanstieg", "anstieg des widerstands"),
        *("augmentation de la résistance", "croissance de la résistance", "内阻增长", "内阻增加", "电阻增长"),
    ),
    "power-capability": (
        "power capability",
        "peak power",
        "sop$",
        "leistungsfähigkeit",
        "puissance maximale",
        "峰值功率",
    ),
    "pseudo-ocv": ("pseudo-ocv", "pseudo ocv", "pseudo open", "准开路", "伪ocv"),
    "ocv-from-rests": (
        *("open-circuit voltage", "open circuit voltage", "ocv$", "ruhespannung", "leerlaufspannung"),
        *("tension à vide", "tension en circuit ouvert", "开路电压"),
    ),
    "gitt": (
        "gitt",
        "diffusion coefficient",
        "diffusion",
        "titration",
        "diffusionskoeffizient",
        "扩散系数",
        "扩散",
    ),
    "bode": (
        *("nyquist", "bode$", "impedance spectr", "impedance", "eis$", "spectra", "impedanzspektr", "impedanz"),
        *("impédance", "spectre", "阻抗谱", "阻抗", "奈奎斯特"),
    ),
    "kk": ("kramers", "kramers-kronig", "validity of the spectra", "克拉默斯"),
    "circuit": (
        *("equivalent circuit", "circuit parameter", "circuit fit", "fitted circuit", "ersatzschaltbild"),
        *("circuit équivalent", "等效电路"),
    ),
    "rate-capability": (
        *(
            "rate capability",
            "rate test",
            "capacity at high rate",
            "c-rate",
            "capacity by rate",
            "capacity at each rate",
        ),
        *("capacity against rate", "ratenfähigkeit", "ratentest", "kapazität bei hohen", "c-rate", "c-raten"),
        *("capacité en régime", "régime de décharge", "selon le régime", "倍率性能", "倍率"),
    ),
    "ragone": ("ragone", "energy against power", "energy versus power", "拉贡"),
    "efficiency": (
        *("efficien", "coulombic", "energy efficiency", "wirkungsgrad", "effizienz", "coulomb", "rendement"),
        *("energiewirkungsgrad", "energieeffizienz", "efficacité", "库仑效率", "能量效率", "效率"),
    ),
    "formation": (
        *("formation", "first-cycle loss", "first cycle loss", "initial coulombic", "formierung", "erstzyklus"),
        *("première cycle", "化成", "首次效率", "首圈"),
    ),
    "self-discharge": ("self-discharge", "self discharge", "selbstentladung", "autodécharge", "自放电"),
    "arrhenius": (
        *(
            "arrhenius",
            "activation energy",
            "temperature law",
            "fade depend on temperature",
            "temperature dependence",
        ),
        *("aktivierungsenergie", "temperaturabhängigkeit", "énergie d'activation", "阿伦尼乌斯", "活化能"),
    ),
    "delta-q": ("delta-q", "delta q", "early cycles and life", "δq"),
    "capacity-by-step": (
        *("constant voltage share", "constant current and constant voltage", "cc and cv", "cc/cv", "cccv share"),
        *("capacity by step", "share of cv", "cv phase", "cv-phase", "cv-anteil", "konstantspannung"),
        *("tension constante", "恒压", "恒流"),
    ),
    "test-timeline": (
        *("what happened", "timeline", "overview of the test", "overview of test", "course of the test"),
        *("was geschah", "was passiert", "ablauf", "übersicht des tests", "überblick über den test"),
        *("que s'est-il passé", "déroulement", "测试过程", "发生了什么", "概览"),
    ),
}
"""Name of a recipe -> words for it."""
