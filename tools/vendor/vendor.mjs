// Makes server/page/vendor from the packages of package-lock.json: `npm ci && npm run vendor` in this folder.
// The same packages give the same bytes. VENDORED.md has the versions, licences and hashes; a test compares the hashes.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { parse } from "acorn";
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

// A bundle keeps each module in a function, and all of these run as soon as the file is there. A browser does not know it: it
// first looks each of them through and then parses it once more. A function in parentheses is parsed at once.
function parsedOnce(source) {
  const program = parse(source, { ecmaVersion: "latest", sourceType: "script" });
  const factory = program.body[0].expression.arguments.at(-1);
  const modules = modulesIn(program).filter((module) => !hasThis(module.body));
  if (modules.length < 500 || hasThis(factory.body)) throw new Error("plotly.js is bundled in another way; look at it");
  const asFunction = (node) => `(function(${node.params.map((one) => source.slice(one.start, one.end))})`;
  const changes = [factory, ...modules].flatMap((node) => [
    { from: node.start, to: node.body.start, text: asFunction(node) },
    { from: node.end, to: node.end, text: ")" },
  ]);
  changes.sort((a, b) => a.from - b.from);
  let made = "";
  let at = 0;
  for (const { from, to, text } of changes) {
    made += source.slice(at, from) + text;
    at = to;
  }
  return made + source.slice(at);
}

// The arrow functions that hold the modules: each is the one argument of the same helper.
function modulesIn(program) {
  const byHelper = new Map();
  for (const node of nodesIn(program)) {
    const [argument, ...others] = node.type === "CallExpression" && node.callee.type === "Identifier" ? node.arguments : [];
    if (argument?.type !== "ArrowFunctionExpression" || argument.expression || others.length) continue;
    byHelper.set(node.callee.name, [...(byHelper.get(node.callee.name) ?? []), argument]);
  }
  return [...byHelper.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
}

// Whether a body has a `this` or `arguments` that an arrow function takes from outside.
function hasThis(body) {
  const own = (node) => node.type === "FunctionExpression" || node.type === "FunctionDeclaration";
  for (const node of nodesIn(body, own)) {
    if (node.type === "ThisExpression" || (node.type === "Identifier" && node.name === "arguments")) return true;
  }
  return false;
}

function* nodesIn(node, isLeftOut = () => false) {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === "string" && !isLeftOut(child)) yield* nodesIn(child, isLeftOut);
    }
  }
}

mkdirSync(target, { recursive: true });
await bundled("preact.js", PREACT);
await bundled("codemirror.js", CODEMIRROR);
const plotly = readFileSync(join(here, "node_modules/plotly.js-cartesian-dist-min/plotly-cartesian.min.js"), "utf8");
writeFileSync(join(target, "plotly-cartesian.js"), parsedOnce(plotly));
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
