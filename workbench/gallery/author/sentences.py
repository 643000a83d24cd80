"""What the built-in author says, in the language of the wish."""

from __future__ import annotations

from .matching import Language

_SENTENCES: dict[str, dict[Language, str]] = {
    "drawn": {
        "en": "Drawn: {title}.",
        "de": "Gezeichnet: {title}.",
        "fr": "Tracé : {title}.",
        "zh": "已绘制:{title}。",
    },
    "changed": {
        "en": "Changed: {choices}.",
        "de": "Geändert: {choices}.",
        "fr": "Modifié : {choices}.",
        "zh": "已修改:{choices}。",
    },
    "chosen": {
        "en": "Chosen: {choices}.",
        "de": "Gewählt: {choices}.",
        "fr": "Choisi : {choices}.",
        "zh": "已选择:{choices}。",
    },
    "counted": {
        "en": "Cycles count from 1 in your wish and from 0 in the data.",
        "de": "In Ihrem Wunsch zählen Zyklen ab 1, in den Daten ab 0.",
        "fr": "Votre demande compte les cycles à partir de 1, les données à partir de 0.",
        "zh": "您的要求从 1 开始计循环,数据从 0 开始。",
    },
    "lacking": {
        "en": "This project cannot answer that: {why}",
        "de": "Dieses Projekt kann das nicht beantworten: {why}",
        "fr": "Ce projet ne peut pas y répondre : {why}",
        "zh": "本项目无法回答这个问题:{why}",
    },
    "absent": {
        "en": "This project holds no {what}. It has {there}.",
        "de": "Dieses Projekt enthält keine Daten zu: {what}. Es hat {there}.",
        "fr": "Ce projet ne contient pas de données de : {what}. Il contient {there}.",
        "zh": "本项目没有{what}数据。现有:{there}。",
    },
    "nothing": {
        "en": "This project holds no {what}, and no other measured data yet.",
        "de": "Dieses Projekt enthält noch keine Daten zu: {what}, und auch keine anderen Messdaten.",
        "fr": "Ce projet ne contient pas encore de données de : {what}, ni d'autres mesures.",
        "zh": "本项目还没有{what}数据,也没有其他测量数据。",
    },
    "unknown": {
        "en": "There is no '{name}' in this project. {there}",
        "de": "'{name}' gibt es in diesem Projekt nicht. {there}",
        "fr": "'{name}' n'existe pas dans ce projet. {there}",
        "zh": "本项目中没有“{name}”。{there}",
    },
    "there": {
        "en": "There is {names}.",
        "de": "Es gibt {names}.",
        "fr": "Il y a {names}.",
        "zh": "现有:{names}。",
    },
    "no_tests": {
        "en": "No test fits all of this: {what}. There is {there}.",
        "de": "Kein Test passt zu allem: {what}. Es gibt {there}.",
        "fr": "Aucun essai ne convient : {what}. Il y a {there}.",
        "zh": "没有测试符合全部条件:{what}。现有:{there}。",
    },
    "no_temperature": {
        "en": "No cell ages at {degrees} °C. There is {there} °C.",
        "de": "Keine Zelle altert bei {degrees} °C. Es gibt {there} °C.",
        "fr": "Aucune cellule ne vieillit à {degrees} °C. Il y a {there} °C.",
        "zh": "没有在 {degrees} °C 下老化的电池。现有 {there} °C。",
    },
    "no_temperatures": {
        "en": "No cell of this project has a known temperature, so I cannot choose by it. Name the cells, or note "
        "'temperature [degC]' of their tests.",
        "de": "Von keiner Zelle dieses Projekts ist die Temperatur bekannt, also kann ich nicht nach ihr auswählen. "
        "Nennen Sie die Zellen, oder tragen Sie 'temperature [degC]' ihrer Tests ein.",
        "fr": "La température d'aucune cellule de ce projet n'est connue : je ne peux pas choisir d'après elle. Nommez "
        "les cellules, ou notez 'temperature [degC]' de leurs essais.",
        "zh": "本项目没有已知温度的电池,无法按温度选择。请指明电池,或补充测试的 'temperature [degC]'。",
    },
    "out_of_reach": {
        "en": "I draw the data of this project and nothing else: no files, network, other organizations or changes.",
        "de": "Ich zeichne nur die Daten dieses Projekts: keine Dateien, kein Netz, keine anderen Organisationen, "
        "keine Änderungen.",
        "fr": "Je trace seulement les données de ce projet : ni fichiers, ni réseau, ni autres organisations, ni "
        "modifications.",
        "zh": "我只绘制本项目的数据:不涉及文件、网络、其他组织,也不修改数据。",
    },
    "few": {
        "en": "Shown are {shown} of {all} tests; choose others with the control.",
        "de": "Gezeigt sind {shown} von {all} Tests; wählen Sie andere mit dem Bedienelement.",
        "fr": "{shown} essais sur {all} sont tracés ; choisissez-en d'autres avec la commande.",
        "zh": "显示了 {all} 个测试中的 {shown} 个;可用控件选择其他测试。",
    },
    "details": {
        "en": "Not as you asked: {details}. A language model can draw that.",
        "de": "Nicht wie gewünscht: {details}. Ein Sprachmodell kann das zeichnen.",
        "fr": "Pas comme demandé : {details}. Un modèle de langue peut le tracer.",
        "zh": "未按要求:{details}。语言模型可以画。",
    },
    "other_form": {
        "en": "I cannot draw {form} of this. I can draw {there}: ask for it, or ask a language model.",
        "de": "Ich kann davon nicht zeichnen: {form}. Ich kann {there} zeichnen: fragen Sie danach oder ein "
        "Sprachmodell.",
        "fr": "Je ne peux pas en tracer {form}. Je peux tracer {there} : demandez-le, ou un modèle de langue.",
        "zh": "我不能为此画{form}。我可以画:{there}。也可以问语言模型。",
    },
    "no_batches": {
        "en": "No cell of this project has a batch. I can compare the cells: ask for each cell, or note their batches.",
        "de": "Keine Zelle dieses Projekts hat eine Charge. Ich kann die Zellen vergleichen: fragen Sie nach jeder "
        "Zelle, oder tragen Sie die Chargen ein.",
        "fr": "Aucune cellule de ce projet n'a de lot. Je peux comparer les cellules : demandez chaque cellule, ou "
        "notez leurs lots.",
        "zh": "本项目的电池没有批次。我可以比较各个电池:请问每个电池,或补充批次。",
    },
    "no_simulation": {
        "en": "This project holds no simulation. I can draw what was measured: ask for voltage over time.",
        "de": "Dieses Projekt enthält keine Simulation. Ich kann Gemessenes zeichnen: fragen Sie nach der Spannung "
        "über der Zeit.",
        "fr": "Ce projet ne contient pas de simulation. Je peux tracer les mesures : demandez la tension au cours du "
        "temps.",
        "zh": "本项目没有仿真。我可以绘制测量数据:请问电压随时间的变化。",
    },
    "not_shown": {
        "en": "Not shown, since this plot cannot take them: {names}.",
        "de": "Nicht gezeigt, weil diese Darstellung sie nicht aufnimmt: {names}.",
        "fr": "Non tracés, car ce graphique ne les prend pas : {names}.",
        "zh": "未显示(此图不能包含):{names}。",
    },
    "no_axis": {
        "en": "I find nothing here called '{what}'. I can draw {there}: ask for it without '{what}'.",
        "de": "Ich finde hier nichts, das '{what}' heißt. Ich kann {there} zeichnen: fragen Sie ohne '{what}'.",
        "fr": "Je ne trouve rien ici qui s'appelle « {what} ». Je peux tracer {there} : demandez-le sans « {what} ».",
        "zh": "这里没有“{what}”。我可以画:{there}。请去掉“{what}”再问。",
    },
    "not_known": {
        "en": "Nothing here is called '{names}', so it chose nothing.",
        "de": "Hier heißt nichts '{names}', also wurde nichts danach ausgewählt.",
        "fr": "Rien ici ne s'appelle « {names} » : rien n'a été choisi d'après cela.",
        "zh": "这里没有“{names}”,所以没有按它选择。",
    },
    "near": {
        "en": "Near to it: {there}.",
        "de": "Nahe daran: {there}.",
        "fr": "Le plus proche : {there}.",
        "zh": "相近的有:{there}。",
    },
    "not_there": {
        "en": "None of the chosen tests is called {words}.",
        "de": "Keiner der gewählten Tests heißt {words}.",
        "fr": "Aucun des essais choisis ne s'appelle {words}.",
        "zh": "所选测试中没有名为 {words} 的。",
    },
    "foretell": {
        "en": "I draw what was measured and do not foretell. Near to it: {there}.",
        "de": "Ich zeichne Gemessenes und sage nichts voraus. Nahe daran: {there}.",
        "fr": "Je trace ce qui a été mesuré, sans prédire. Le plus proche : {there}.",
        "zh": "我只绘制已测量的数据,不做预测。相近的有:{there}。",
    },
    "dates": {
        "en": "I cannot choose tests by their date. Name the tests, cells or batches.",
        "de": "Nach Datum kann ich Tests nicht auswählen. Nennen Sie Tests, Zellen oder Chargen.",
        "fr": "Je ne peux pas choisir les essais par date. Nommez les essais, les cellules ou les lots.",
        "zh": "我不能按日期选择测试。请指明测试、电池或批次。",
    },
    "left_out": {
        "en": "This plot cannot leave that out. Name the cells, batches or tests that you want to see.",
        "de": "Diese Darstellung kann das nicht weglassen. Nennen Sie die Zellen, Chargen oder Tests, die Sie sehen "
        "möchten.",
        "fr": "Ce graphique ne peut pas exclure cela. Nommez les cellules, les lots ou les essais à montrer.",
        "zh": "此图不能排除这些。请指明要显示的电芯、批次或测试。",
    },
    "empty": {
        "en": "There is nothing to draw for this: the chosen tests have no values.",
        "de": "Dafür gibt es nichts zu zeichnen: die gewählten Tests haben keine Werte.",
        "fr": "Il n'y a rien à tracer : les essais choisis n'ont pas de valeurs.",
        "zh": "没有可画的内容:所选测试没有数值。",
    },
    "no_data": {
        "en": "This project holds no measured data that could be drawn yet. Bring in a file first.",
        "de": "Dieses Projekt enthält noch keine Messdaten zum Zeichnen. Lesen Sie zuerst eine Datei ein.",
        "fr": "Ce projet ne contient pas encore de mesures à tracer. Importez d'abord un fichier.",
        "zh": "本项目还没有可画的测量数据。请先导入文件。",
    },
    "kept": {
        "en": "This plot cannot leave out '{what}': it is still in it.",
        "de": "Diese Darstellung kann '{what}' nicht weglassen: es ist noch darin.",
        "fr": "Ce graphique ne peut pas exclure « {what} » : il y est encore.",
        "zh": "此图不能排除“{what}”,图中仍包含它。",
    },
    "another": {
        "en": "This is another plot, in place of '{name}'.",
        "de": "Das ist eine andere Darstellung, anstelle von '{name}'.",
        "fr": "C'est un autre graphique, à la place de « {name} ».",
        "zh": "这是另一张图,取代“{name}”。",
    },
    "cannot_add": {
        "en": "I cannot add that to this plot. It has the choices: {there}. Ask for it as a plot of its own, or ask a "
        "language model.",
        "de": "Das kann ich dieser Darstellung nicht hinzufügen. Sie hat die Wahl: {there}. Fragen Sie danach als "
        "eigene Darstellung, oder fragen Sie ein Sprachmodell.",
        "fr": "Je ne peux pas ajouter cela à ce graphique. Il a les choix : {there}. Demandez-le comme graphique à "
        "part, ou demandez à un modèle de langue.",
        "zh": "我不能把它加到此图中。此图可选:{there}。请单独要一张图,或问语言模型。",
    },
    "undo": {
        "en": "I change nothing for this. Press Undo to go back to the plot before; in Python: view.undo().",
        "de": "Dafür ändere ich nichts. Mit Undo kommen Sie zur vorigen Darstellung; in Python: view.undo().",
        "fr": "Je ne change rien pour cela. Undo ramène le graphique précédent ; en Python : view.undo().",
        "zh": "这里不做更改。按 Undo 回到上一张图;在 Python 中:view.undo()。",
    },
    "read_as": {
        "en": "I read '{written}' as '{read}'.",
        "de": "'{written}' habe ich als '{read}' gelesen.",
        "fr": "J'ai lu « {written} » comme « {read} ».",
        "zh": "我把“{written}”读作“{read}”。",
    },
    "not_understood": {
        "en": "I do not know what to draw for this. I can draw, for example: {there}. Or ask a language model with the "
        "copied context.",
        "de": "Dafür weiß ich keine Darstellung. Ich kann zum Beispiel: {there}. Oder fragen Sie ein Sprachmodell mit "
        "dem kopierten Kontext.",
        "fr": "Je ne sais pas quoi tracer. Je peux par exemple : {there}. Ou demandez à un modèle de langue avec le "
        "contexte copié.",
        "zh": "我不知道该画什么。例如我可以画:{there}。也可以复制上下文去问语言模型。",
    },
    "same_cells": {
        "en": "It shows the cells of the plot before.",
        "de": "Gezeigt sind die Zellen der vorigen Darstellung.",
        "fr": "Il montre les cellules du graphique précédent.",
        "zh": "显示的是上一张图的电池。",
    },
    "unfit": {
        "en": "This plot cannot have that: {details}.",
        "de": "Das kann diese Darstellung nicht: {details}.",
        "fr": "Ce graphique ne le permet pas : {details}.",
        "zh": "此图做不到:{details}。",
    },
    "has_already": {
        "en": "This plot has that already: {details}.",
        "de": "Das hat diese Darstellung schon: {details}.",
        "fr": "Ce graphique l'a déjà : {details}.",
        "zh": "此图已有:{details}。",
    },
    "export": {
        "en": "I write no files: use Export beside the plot for picture, table and data.",
        "de": "Ich schreibe keine Dateien: Export neben der Darstellung gibt Bild, Tabelle und Daten.",
        "fr": "Je n'écris pas de fichiers : Export, à côté du graphique, donne l'image, le tableau et les données.",
        "zh": "我不写文件:图旁的 Export 可导出图片、表格和数据。",
    },
    "nothing_to_change": {
        "en": "I do not know what to change. This plot has the choices: {there}. Or ask for another plot.",
        "de": "Ich weiß nicht, was zu ändern ist. Diese Darstellung hat die Wahl: {there}.",
        "fr": "Je ne sais pas quoi modifier. Ce graphique a les choix : {there}.",
        "zh": "我不知道要修改什么。此图可选:{there}。",
    },
}


def sentence(key: str, language: Language, **parts: str) -> str:
    """A sentence with its parts, in a language."""
    return _SENTENCES[key][language].format(**parts)
