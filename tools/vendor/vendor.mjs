// Makes server/page/vendor from the packages of package-lock.json: `npm ci && npm run vendor` in this folder.
// The same packages give the same bytes. VENDORED.md has the versions, licences and hashes; a test compares the hashes.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../../server/page/vendor");

const PREACT = `
export { h, render, Fragment, createContext } from "preact";
export { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState, useCallback } from "preact/hooks";
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
`;

const CODEMIRROR = `
export { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
export { json } from "@codemirror/lang-json";
export { python } from "@codemirror/lang-python";
export { HighlightStyle, bracketMatching, foldGutter, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { lintGutter, linter, setDiagnostics } from "@codemirror/lint";
export { MergeView } from "@codemirror/merge";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { Compartment, EditorState } from "@codemirror/state";
export { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
export { tags } from "@lezer/highlight";
`;

const packages = new Map();

function known(name) {
  const about = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
  packages.set(about.name, { version: about.version, licence: about.license });
}

async function bundled(file, source) {
  const made = await build({
    stdin: { contents: source, resolveDir: here },
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    legalComments: "none",
    metafile: true,
    outfile: join(target, file),
  });
  for (const path of Object.keys(made.metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) known(found[1]);
  }
}

mkdirSync(target, { recursive: true });
await bundled("preact.js", PREACT);
await bundled("codemirror.js", CODEMIRROR);
copyFileSync(join(here, "node_modules/plotly.js-cartesian-dist-min/plotly-cartesian.min.js"), join(target, "plotly-cartesian.js"));
known("plotly.js-cartesian-dist-min");

const rows = readdirSync(target).filter((name) => name.endsWith(".js")).sort().map((name) => {
  const bytes = readFileSync(join(target, name));
  const hash = createHash("sha256").update(bytes).digest("hex");
  return `| ${name} | ${hash} | ${Math.round(gzipSync(bytes).length / 1000)} |`;
});
const parts = [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { version, licence }]) => `| ${name} | ${version} | ${licence} |`);
writeFileSync(join(target, "VENDORED.md"), `# Files of others

Made by \`npm ci && npm run vendor\` in \`tools/vendor\`; do not change them here.

| file | sha256 | kB gzipped |
|---|---|---|
${rows.join("\n")}

## What they hold

| package | version | licence |
|---|---|---|
${parts.join("\n")}
`);
