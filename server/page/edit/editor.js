// CodeMirror in a shadow root: there it uses adopted style sheets, which the page's policy allows.

import { html, useEffect, useRef } from "../vendor/preact.js";

/** @typedef {{ from: number, to: number, severity: "error" | "warning", message: string, actions?: { name: string, apply: (view: any, from: number, to: number) => void }[] }} Mark */

/** @type {Promise<any> | null} */
let loading = null;
/** CodeMirror, loaded when the first editor opens. */
export const codemirror = () => (loading ??= import("../vendor/codemirror.js"));

/** @param {any} cm */
function look(cm) {
  const { EditorView, HighlightStyle, syntaxHighlighting, tags: t } = cm;
  const theme = EditorView.theme({
    "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "13px" },
    ".cm-scroller": { fontFamily: "var(--code)", lineHeight: "1.55" },
    ".cm-content": { caretColor: "var(--ink)" },
    "&.cm-focused": { outline: "none" },
    ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
    ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
    "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": { backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent) !important" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "8px", overflow: "hidden" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--ink)" },
    ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
    ".cm-diagnostic": { padding: "6px 10px", font: "13px/1.45 var(--font)" },
    ".cm-diagnosticAction": { backgroundColor: "var(--accent)", color: "var(--accent-ink)", borderRadius: "6px", padding: "2px 8px" },
    ".cm-collapsedLines": { background: "var(--sunken)", color: "var(--soft)" },
    ".cm-foldGutter span": { color: "var(--soft)" },
    ".cm-changedLine": { backgroundColor: "color-mix(in srgb, var(--accent) 9%, transparent) !important" },
    ".cm-changedText": { background: "color-mix(in srgb, var(--accent) 30%, transparent) !important" },
  });
  const style = HighlightStyle.define([
    { tag: [t.keyword, t.bool, t.null], color: "var(--code-word)" }, { tag: [t.string, t.special(t.string)], color: "var(--code-text)" },
    { tag: [t.number], color: "var(--code-number)" }, { tag: [t.comment], color: "var(--soft)", fontStyle: "italic" },
    { tag: [t.definition(t.variableName), t.function(t.variableName), t.propertyName], color: "var(--code-name)" }, { tag: t.invalid, color: "var(--wrong)" },
  ]);
  return [theme, syntaxHighlighting(style)];
}

/** @param {any} cm @param {"python" | "json"} language @param {string} label @param {any[]} more */
function extensions(cm, language, label, more) {
  const { EditorView, EditorState, keymap } = cm;
  return [
    cm.lineNumbers(), cm.foldGutter(), cm.history(), cm.drawSelection(), cm.indentOnInput(), cm.bracketMatching(), cm.closeBrackets(), cm.highlightActiveLine(), cm.highlightSelectionMatches(),
    cm.search({ top: true }), cm.lintGutter(), cm.indentUnit.of(language === "python" ? "    " : "  "), EditorState.tabSize.of(4), language === "python" ? cm.python() : cm.json(),
    keymap.of([...cm.defaultKeymap, ...cm.historyKeymap, ...cm.searchKeymap, ...cm.completionKeymap, { key: "Mod-]", run: cm.indentMore }, { key: "Mod-[", run: cm.indentLess }]),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }), EditorView.lineWrapping, ...look(cm), ...more,
  ];
}

/** @param {HTMLElement} host */
function shadow(host) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const box = document.createElement("div");
  box.style.height = "100%";
  root.replaceChildren(box);
  return { root, box };
}

/**
 * What is typed goes out by `onText`; a text from elsewhere goes in when `version` changes.
 * @param {{ text: string, version: number, language: "python" | "json", label: string, marks: Mark[], words?: () => { label: string, detail?: string }[], onText: (text: string) => void }} given
 */
export function Editor({ text, version, language, label, marks, words, onText }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const view = useRef(/** @type {any} */ (null));
  const heard = useRef(onText);
  heard.current = onText;
  const latest = useRef({ text, marks });
  latest.current = { text, marks };
  useEffect(() => {
    let here = true;
    codemirror().then((cm) => {
      if (!here || !host.current) return;
      const { root, box } = shadow(host.current);
      const complete = words ? [cm.autocompletion({ override: [completing(words)] })] : [cm.autocompletion()];
      const listens = cm.EditorView.updateListener.of((/** @type {any} */ update) => { if (update.docChanged) heard.current(update.state.doc.toString()); });
      view.current = new cm.EditorView({ root, parent: box, state: cm.EditorState.create({ doc: latest.current.text, extensions: extensions(cm, language, label, [...complete, listens]) }) });
      view.current.scrollDOM.tabIndex = 0;
      view.current.dispatch(cm.setDiagnostics(view.current.state, bounded(latest.current.marks, view.current)));
    });
    return () => { here = false; view.current?.destroy(); view.current = null; };
  }, [language, label]);
  useEffect(() => {
    const now = view.current;
    if (now && now.state.doc.toString() !== text) now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: text } });
  }, [version]);
  useEffect(() => {
    if (view.current) codemirror().then((cm) => { if (view.current) view.current.dispatch(cm.setDiagnostics(view.current.state, bounded(marks, view.current))); });
  }, [marks]);
  return html`<div class="editor" ref=${host}></div>`;
}

/** @param {Mark[]} marks @param {any} view */
function bounded(marks, view) {
  const most = view.state.doc.length;
  return marks.map((one) => ({ ...one, from: Math.min(one.from, most), to: Math.min(Math.max(one.to, one.from), most) }));
}

/** Names of the store, inside quotes. @param {() => { label: string, detail?: string }[]} words */
function completing(words) {
  return (/** @type {any} */ context) => {
    const found = context.matchBefore(/"[^"\n]*/);
    if (!found || (found.from === found.to && !context.explicit)) return null;
    return { from: found.from + 1, options: words(), validFor: /^[^"\n]*$/ };
  };
}

/** Two texts side by side, with what differs. @param {{ before: string, after: string, language: "python" | "json", label: string }} given */
export function Difference({ before, after, language, label }) {
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    let here = true;
    /** @type {any} */
    let merge = null;
    codemirror().then((cm) => {
      if (!here || !host.current) return;
      const { root, box } = shadow(host.current);
      const side = (/** @type {string} */ doc, /** @type {string} */ name) => ({ doc, extensions: [...extensions(cm, language, `${label}, ${name}`, []), cm.EditorState.readOnly.of(true)] });
      merge = new cm.MergeView({ a: side(before, "before"), b: side(after, "after"), parent: box, root, collapseUnchanged: { margin: 3 } });
      for (const scroller of box.querySelectorAll(".cm-mergeView, .cm-scroller")) { scroller.setAttribute("tabindex", "0"); }
    });
    return () => { here = false; merge?.destroy(); };
  }, [before, after, language]);
  return html`<div class="editor merge" ref=${host}></div>`;
}
