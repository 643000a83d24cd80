"""What the built-in author understands: quantities of the field, axes, kinds of tests, and what is out of its reach.

Words are beginnings of words in English, German, French and Chinese. Recipes of the gallery have theirs in
``recipe_words``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .matching import Language


@dataclass(frozen=True)
class Quantity:
    """Something that is measured: its name, the words for it, and a pattern of the columns that hold it.

    ``cycles`` are its columns of cycles, the usual one first; ``level`` is where it is looked for first.
    """

    names: dict[Language, str]
    words: tuple[str, ...]
    pattern: str
    cycles: tuple[str, ...] = ()
    level: str = "samples"


QUANTITIES = (
    Quantity(
        {"en": "voltage", "de": "Spannung", "fr": "tension", "zh": "电压"},
        ("voltage", "spannung", "tension", "voltaje", "tensión", "电压"),
        r"^Voltage \[V\]$",
        ("Max voltage [V]", "Min voltage [V]"),
    ),
    Quantity(
        {"en": "current", "de": "Strom", "fr": "courant", "zh": "电流"},
        ("current$", "currents$", "strom$", "stromverlauf", "stromprofil", "courant$", "corriente", "电流"),
        r"^Current \[A\]$",
        ("Mean discharge current [A]", "Mean charge current [A]"),
    ),
    Quantity(
        {"en": "temperature", "de": "Temperatur", "fr": "température", "zh": "温度"},
        (
            *("temperature", "how hot", "how warm", "hottest", "temperatur", "wie heiß", "wie warm"),
            *("température", "chaud", "temperatura", "温度", "多热"),
        ),
        r"^Temperature \[degC\]$",
        ("Mean temperature [degC]",),
    ),
    Quantity(
        {"en": "capacity", "de": "Kapazität", "fr": "capacité", "zh": "容量"},
        (
            *("capacity", "capacities", "kapazität", "entladekapazität", "ladekapazität", "restkapazität"),
            *("capacité", "capacidad", "容量"),
        ),
        r"^Discharge capacity \[A\.h\]$",
        ("Discharge capacity [A.h]", "Charge capacity [A.h]"),
        "cycles",
    ),
    Quantity(
        {"en": "energy", "de": "Energie", "fr": "énergie", "zh": "能量"},
        ("energy$", "energies$", "energie$", "entladeenergie", "ladeenergie", "énergie", "能量"),
        r"^Discharge energy \[W\.h\]$",
        ("Discharge energy [W.h]", "Charge energy [W.h]"),
        "cycles",
    ),
    Quantity(
        {"en": "duration of cycles", "de": "Zyklusdauer", "fr": "durée des cycles", "zh": "循环时长"},
        (
            *("cycle duration", "duration", "how long", "charge time", "charging time", "discharge time"),
            *("discharging time", "zyklusdauer", "dauer", "ladezeit", "entladezeit", "durée", "temps de charge"),
            *("temps de décharge", "时长", "多长时间", "充电时间", "放电时间"),
        ),
        r"^Cycle duration \[s\]$",
        ("Cycle duration [s]", "Charge duration [s]", "Discharge duration [s]"),
        "cycles",
    ),
    Quantity(
        {"en": "throughput", "de": "Ladungsdurchsatz", "fr": "charge cumulée", "zh": "累计容量"},
        ("throughput", "ladungsdurchsatz", "durchsatz", "charge cumulée", "吞吐", "累计容量"),
        r"^Capacity throughput \[A\.h\]$",
        ("Capacity throughput [A.h]",),
        "cycles",
    ),
    Quantity(
        {"en": "pressure", "de": "Druck", "fr": "pression", "zh": "压力"},
        ("pressure", "druck$", "zelldruck", "pression", "压力", "气压", "压强"),
        r"pressure",
    ),
    Quantity(
        {"en": "gas", "de": "Gas", "fr": "gaz", "zh": "气体"},
        ("gas$", "gases$", "gassing", "gas evolution", "gasentwicklung", "gaz$", "气体", "产气"),
        r"\bgas\b|gassing",
    ),
    Quantity(
        {"en": "thickness", "de": "Dicke", "fr": "épaisseur", "zh": "厚度"},
        (
            *(
                "thickness",
                "thick$",
                "dick$",
                "swelling",
                "expansion",
                "dilat",
                "dicke",
                "schwell",
                "ausdehnung",
                "épaisseur",
                "gonfle",
            ),
            *("厚度", "膨胀"),
        ),
        r"thickness|swelling|expansion|displacement",
    ),
    Quantity(
        {"en": "force", "de": "Kraft", "fr": "force", "zh": "力"},
        ("force$", "forces$", "kraft$", "strain$", "stress$", "应力", "应变"),
        r"\bforce\b|\bstrain\b|\bstress\b",
    ),
    Quantity(
        {"en": "humidity", "de": "Luftfeuchte", "fr": "humidité", "zh": "湿度"},
        ("humidity", "feuchte", "luftfeuchte", "humidité", "湿度"),
        r"humidity",
    ),
    Quantity(
        {"en": "cost", "de": "Kosten", "fr": "coût", "zh": "成本"},
        ("cost$", "costs$", "price", "kosten", "preis", "coût", "prix$", "成本", "价格"),
        r"\bcost|\bprice",
    ),
    Quantity(
        {"en": "images", "de": "Bilder", "fr": "images", "zh": "图像"},
        (
            *(
                "microscop",
                "sem image",
                "sem$",
                "xrd",
                "x-ray",
                "tomograph",
                "mikroskop",
                "röntgen",
                "image",
                "photo",
            ),
            *("显微", "射线"),
        ),
        r"microscop|tomograph|xrd",
    ),
    Quantity(
        {"en": "sound", "de": "Ultraschall", "fr": "ultrasons", "zh": "超声"},
        ("ultraso", "acoustic", "ultraschall", "akusti", "acousti", "超声", "声学"),
        r"acoustic|ultraso",
    ),
)

HIGHEST = (
    *(
        "max$",
        "maxim",
        "highest",
        "peak$",
        "peaks$",
        "hottest",
        "höchste",
        "größte",
        "le plus élevé",
        "la plus élevée",
    ),
    *("la plus haute", "最高", "最大"),
)
LOWEST = (
    *("min$", "minim", "lowest", "coldest", "niedrigste", "kleinste", "tiefste", "la plus basse", "le plus bas"),
    *("最低", "最小"),
)
"""The words for the greatest and for the least value of a quantity."""
PAIRS = (
    "correlat",
    "relation between",
    "against",
    "versus",
    "vs$",
    "korrel",
    "zusammenhang",
    "gegen",
    "corrél",
    "相关",
)
MEAN = ("mean", "average", "mittel", "durchschnitt", "moyenne", "平均")
OF_A_CYCLE: dict[str, tuple[str, ...]] = {
    "Min ": ("min$", "minimum", "minimal", "lowest", "niedrigste", "kleinste", "end of discharge", "最低", "最小"),
    "Max ": ("max$", "maximum", "maximal", "highest", "höchste", "größte", "end of charge", "最高", "最大"),
    "Charge ": (
        *("charge capacity", "charge energy", "ladekapazität", "ladeenergie", "capacité de charge"),
        *("capacité chargée", "énergie de charge", "énergie chargée", "充电容量", "充电能量"),
        *("charge time", "charging time", "charge duration", "duration of the charge", "duration of charge"),
        *("how long + charge$", "how long + charging", "ladezeit", "ladedauer", "temps de charge", "充电时间"),
    ),
    "Discharge ": (
        *("discharge time", "discharging time", "discharge duration", "duration of the discharge"),
        *("how long + discharge$", "how long + discharging", "entladezeit", "entladedauer", "temps de décharge"),
        "放电时间",
    ),
    "Mean charge ": ("charge current", "charging current", "ladestrom", "courant de charge", "充电电流"),
}
"""Beginnings of columns of cycles, and the words for each: which one of a quantity is meant."""

RECORDS: dict[str, tuple[str, ...]] = {
    "simulations": ("simulation", "simulated", "simuliert", "simulé", "simulación", "仿真", "模拟"),
    "materialProperties": (
        *("open-circuit potential", "open circuit potential", "ocp$", "equilibrium potential", "half-cell"),
        *("half cell", "electrode potential", "anode potential", "cathode potential", "stoichiometr"),
        *("gleichgewichtspotential", "ruhepotential", "halbzell", "elektrodenpotential", "stöchiometri"),
        *("potentiel à l'équilibre", "potentiel d'équilibre", "potentiel d'électrode", "demi-cellule"),
        *("stœchiométri", "stoechiométri", "平衡电位", "电极电位", "半电池", "开路电位", "化学计量"),
    ),
}
"""Source of records with samples -> the words for them."""
RESULTS: dict[str, tuple[str, ...]] = {
    "lli": ("loss of lithium", "lithium loss", "lithiumverlust", "perte de lithium", "锂损失"),
    "lam anode": ("loss of active", "aktivmaterialverlust", "perte de matière active", "活性材料损失"),
    "lam cathode": ("loss of active", "aktivmaterialverlust", "perte de matière active", "活性材料损失"),
}
"""Column of stored results, in small letters -> other words for it."""
OPEN_CIRCUIT = (
    *("ocv", "open-circuit", "open circuit", "leerlauf", "ruhespannung", "tension à vide", "circuit ouvert"),
    *("potential", "potentiel", "开路"),
)
RECORD_NAMES: dict[str, tuple[str, ...]] = {
    "graphite": ("graphit", "石墨"),
    "anode": ("anode", "negative electrode", "négative", "负极", "阳极"),
    "cathode": ("cathode", "kathode", "positive electrode", "positive", "正极", "阴极"),
    "full": ("full cell", "full-cell", "vollzelle", "cellule complète", "全电池"),
}
"""Words in the names of materials and simulations, and what they are called in a wish."""

OVER_TIME = (
    *(
        "over time",
        "over the time",
        "against time",
        "vs time",
        "vs. time",
        "versus time",
        "with time",
        "time series",
    ),
    *("profile", "waveform", "trace of", "during"),
    *("über die zeit", "über der zeit", "gegen die zeit", "zeitverlauf", "verlauf", "während", "profil"),
    *("au cours du temps", "en fonction du temps", "dans le temps", "pendant", "évolution temporelle"),
    *("随时间", "时间曲线", "时序", "过程中", "期间"),
)
OVER_CYCLES = (*("cycle", "cycling", "zyklus", "zyklen", "ciclo", "循环", "圈"),)
OVER_OTHERS = (
    *(
        "throughput",
        "state of charge",
        "soc$",
        "c-rate",
        "rated capacity",
        "frequency",
        "durchsatz",
        "ladezustand",
    ),
    *("nennkapazität", "frequenz", "état de charge", "capacité nominale", "fréquence", "荷电状态", "倍率", "频率"),
    *("against capacity", "against charge", "横轴"),
)
"""Axes that are neither time nor cycles."""
OVER_CAPACITY = (
    *("against capacity", "over capacity", "versus capacity", "vs capacity", "against charge"),
    *("über der kapazität", "gegen die kapazität", "en fonction de la capacité", "容量的变化", "随容量"),
)
DISTRIBUTION = (
    *("histogram", "distribution", "histogramm", "verteilung", "histogramme", "répartition", "直方图", "分布"),
)
COUNTS = (
    *("how many", "number of tests", "number of cells", "count of", "count the", "wie viele", "anzahl"),
    *("cuánt", "combien", "nombre de", "nombre d'", "多少", "数量", "几个"),
)
THRESHOLD = (
    *("below", "under", "por debajo", "falls to", "drops to", "reach", "threshold", "mark", "limit"),
    *("unter", "erreich", "schwelle", "grenze", "markier", "kennzeichne"),
    *("sous", "atteint", "seuil", "descend", "marque", "en dessous"),
    *("低于", "降到", "下降到", "达到", "阈值", "标出", "标记"),
)
BY_BATCH = (
    *("by batch", "per batch", "each batch", "for each batch", "between batches", "batches", "compare batch"),
    *("je charge", "pro charge", "nach charge", "nach chargen", "chargen", "je batch", "pro batch", "nach batch"),
    *("par lot", "chaque lot", "lots$", "selon le lot", "每批", "按批次", "各批次", "批次"),
)
BY_CELL = (
    *("by cell", "per cell", "each cell", "every cell", "for each cell", "cell by cell"),
    *("je zelle", "pro zelle", "jede zelle", "jeder zelle", "einzelne zelle"),
    *("par cellule", "chaque cellule", "每个电池", "每只", "各电池", "每个电芯"),
)
RELATIVE = (
    *("relative", "retention", "percent", "%", "normal", "fade", "fading"),
    *(
        "prozent",
        "bezogen",
        "kapazitätserhalt",
        "relatif",
        "pourcent",
        "rétention",
        "百分",
        "保持率",
        "相对",
        "衰减",
    ),
)
ABSOLUTE = (
    "absolute",
    "in ah$",
    "in a.h",
    "in amp",
    "absolut",
    "in mah",
    "absolue",
    "en ah$",
    "绝对",
    "安时",
)
PER_GRAM = (
    *("per gram", "per g$", "specific capacity", "mah/g", "ah/g", "gravimetric", "pro gramm", "je gramm"),
    *("spezifische kapazität", "par gramme", "massique", "每克", "比容量"),
)
PER_AREA = (
    *("per cm", "per area", "areal", "mah/cm", "pro fläche", "pro cm", "flächen", "surfacique", "par cm"),
    *("面积比", "每平方厘米"),
)
DISCHARGE = ("discharge", "discharging", "entlad", "décharge", "放电")
CHARGE = ("charge$", "charging", "charges$", "lade", "laden", "ladung", "en charge", "充电")
OVER_THROUGHPUT = ("throughput", "equivalent full cycle", "efc$", "durchsatz", "äquivalente", "équivalent", "等效")

KINDS: dict[str, tuple[str, ...]] = {
    "ageing": ("ageing", "aging", "cycle life", "alterung", "vieillissement", "老化", "寿命测试"),
    "rpt": (
        "rpt",
        "rpts$",
        "check-up",
        "checkup",
        "check up",
        "reference performance",
        "contrôle",
        "参考性能",
        "标定",
    ),
    "hppc": ("hppc", "pulse test", "pulse", "puls", "impulsion", "脉冲"),
    "eis": ("eis", "impedance", "impedanz", "impédance", "阻抗"),
    "dynamic": (
        *("drive cycle", "driving", "drive", "fahrzyklus", "fahrprofil", "fahrzyklen", "cycle de conduite"),
        *("conduite", "工况", "驾驶"),
    ),
    "pocv": ("slow cycle", "pseudo-ocv", "c/20", "langsam", "cycle lent", "慢速", "小倍率"),
    "gitt": ("gitt", "titration", "滴定"),
    "rate": ("rate test", "rate capability", "c-rate test", "ratentest", "倍率测试"),
    "formation": ("formation", "formier", "化成"),
    "storage": ("storage", "calendar", "lagerung", "kalendar", "stockage", "calendaire", "存储", "日历"),
}
"""Kind of test -> the words for it."""

TEST_WORDS: dict[str, tuple[str, ...]] = {
    "urban": ("urban", "city", "stadt", "urbain", "ville", "城市"),
    "highway": ("highway", "motorway", "autobahn", "autoroute", "高速"),
    "aged": ("aged", "gealtert", "vieilli$", "vieillie$", "vieillies$", "已老化"),
    "fresh": ("fresh", "frisch", "neuf", "neuve", "新鲜", "全新"),
}
"""Words in the names of tests, and what they are called in a wish."""

NYQUIST = ("nyquist", "奈奎斯特")
BODE = (
    *("bode", "magnitude", "phase", "against frequency", "over frequency", "versus frequency", "vs frequency"),
    *("betrag", "über der frequenz", "gegen die frequenz", "module", "en fonction de la fréquence"),
    *("波特", "随频率", "相位", "模值"),
)
FIRST_AND_LAST = (
    *("first and last", "first and the last", "erste und letzte", "ersten und letzten", "ersten und des letzten"),
    *("premier et dernier", "premier et du dernier", "première et dernière", "第一次和最后一次", "首次和末次"),
)

CALENDAR_AGEING = (
    *("calendar ageing", "calendar aging", "calendric ageing", "calendric aging", "kalendarische alterung"),
    *("kalendarischen alterung", "vieillissement calendaire", "日历老化"),
)
"""Ageing at rest: no test of cycles."""
ADDS = (
    *(
        "also",
        "add$",
        "adding",
        "plus$",
        "as well",
        "too$",
        "additionally",
        "in addition",
        "include",
        "together with",
    ),
    *(
        "auch",
        "zusätzlich",
        "hinzu",
        "füge",
        "dazu$",
        "ergänze",
        "aussi",
        "ajoute",
        "également",
        "en plus",
        "avec en",
    ),
    *("添加", "加上", "还要", "同时"),
)
"""Words of a change that adds to what is shown."""
NARROWS = (
    *("only", "just$", "of them", "of these", "of those", "ones$", "nur$", "davon", "seulement", "uniquement"),
    *("parmi", "只", "仅"),
)
"""Words of a change that narrows what is shown."""
UNDO = (
    *("undo", "go back", "take that back", "revert", "previous version", "rückgängig", "mach das zurück"),
    *("annule", "reviens en arrière", "撤销", "撤消"),
)

OUT_OF_REACH = (
    *(
        "other organization",
        "other organisation",
        "another organization",
        "another organisation",
        "other companies",
    ),
    *("another company", "all organizations", "all organisations", "other customers", "everybody's data"),
    *("andere organisation", "anderen organisation", "andere firma", "anderen firma", "anderer firmen"),
    *("autre organisation", "autres organisations", "autre entreprise", "其他组织", "其他公司", "别的公司"),
    *("delete", "remove the", "overwrite", "rename the", "change the value", "lösche", "löschen", "überschreib"),
    *("supprime", "efface", "écrase", "删除", "覆盖", "修改数据"),
    *("password", "passwor", "api key", "secret key", "mot de passe", "密码", "密钥"),
    *("http:", "https:", "/etc/", "internet", "from the web", "website", "web page", "download", "upload"),
    *(
        "send it",
        "e-mail it",
        "email it",
        "herunterlad",
        "hochlad",
        "télécharge",
        "envoie",
        "下载",
        "上传",
        "发送",
    ),
    *("file system", "my disk", "home folder", "dateisystem", "festplatte", "disque dur", "文件系统"),
)
EXPORTS = (
    *("export", "as csv", "as png", "as svg", "as pdf", "as excel", "to csv", "to excel", "to pdf", "to png"),
    *("save the plot", "save it", "save this", "save the figure", "als csv", "als png", "als pdf", "exportier"),
    *("speicher", "exporte", "enregistre", "en csv", "en png", "导出", "保存"),
)
FORETELL = (
    "predict",
    "forecast",
    "extrapolat",
    "vorhersag",
    "prognos",
    "prévoi",
    "prédi",
    "prévision",
    "预测",
    "外推",
)
DATES = (
    *("last week", "last month", "yesterday", "today", "this week", "this month", "since january", "in 20"),
    *("letzte woche", "letzten monat", "gestern", "heute", "la semaine dernière", "le mois dernier", "hier$"),
    *("aujourd'hui", "上周", "上个月", "昨天", "今天", "本周"),
)
