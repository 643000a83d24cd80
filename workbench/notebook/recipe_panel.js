// The recipe panel: editors with line numbers and marks, tables of the steps, saving and history.

const CHECK_QUIET_MS = 350;
const OPENING_MS = 30000;
const EDITORS = [["plan", "Plan", 2], ["transform", "Transform", 4], ["params", "Params", 2]];

function made(tag, name, parent, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  parent?.append(node);
  return node;
}

function button(text, title, parent, act, name = "") {
  const node = made("button", `wb-text-button ${name}`, parent, text);
  node.type = "button";
  node.title = title;
  node.addEventListener("click", act);
  return node;
}

// An editor: a text area with line numbers, and bands behind the lines with problems

class Editor {
  constructor(label, indent, parent, typed, run) {
    this.root = made("div", "wb-editor", parent);
    this.numbers = made("div", "wb-numbers", this.root);
    this.bands = made("div", "wb-bands", this.root);
    this.area = made("textarea", "wb-area", this.root);
    this.area.spellcheck = false;
    this.area.wrap = "off";
    this.area.autocapitalize = "off";
    this.area.setAttribute("aria-label", label);
    this.indent = " ".repeat(indent);
    this.wrong = new Map();
    this.leave = false;
    this.area.addEventListener("input", () => { this.number(); typed(); });
    this.area.addEventListener("scroll", () => this.scroll());
    this.area.addEventListener("keydown", (event) => this.key(event, run));
  }

  get text() { return this.area.value; }

  set text(text) {
    if (this.area.value === text) return;
    this.area.value = text;
    this.number();
  }

  key(event, run) {
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) return; // saves the notebook
    event.stopPropagation();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Tab" && !this.leave && !event.shiftKey) {
      event.preventDefault();
      this.insert(this.indent);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.insert(`\n${this.lead()}`);
    }
    this.leave = event.key === "Escape"; // after Escape the Tab key goes on to the next control
  }

  lead() {
    const line = this.text.slice(0, this.area.selectionStart).split("\n").pop();
    const deeper = /[:{[(]\s*$/.test(line) ? this.indent : "";
    return /^\s*/.exec(line)[0] + deeper;
  }

  insert(text) {
    document.execCommand("insertText", false, text); // keeps the browser's own undo
  }

  number() {
    const lines = this.text.split("\n").length;
    if (this.numbers.childElementCount !== lines) {
      this.numbers.replaceChildren(...Array.from({ length: lines }, (_, n) => made("div", "", null, String(n + 1))));
    }
    this.mark(this.wrong);
  }

  mark(wrong) {
    this.wrong = wrong;
    [...this.numbers.children].forEach((node, n) => {
      node.classList.toggle("wb-wrong-line", wrong.has(n + 1));
      node.title = wrong.get(n + 1) ?? "";
    });
    this.bands.replaceChildren(...[...wrong.keys()].map((line) => {
      const band = made("div", "wb-band");
      band.style.top = `${line - 1}lh`;
      return band;
    }));
    this.scroll();
  }

  scroll() {
    this.numbers.style.transform = this.bands.style.transform = `translateY(${-this.area.scrollTop}px)`;
  }

  reveal(line) {
    const height = parseFloat(getComputedStyle(this.area).lineHeight);
    const [from, to] = [this.area.scrollTop, this.area.scrollTop + this.area.clientHeight];
    if (line * height > to || (line - 1) * height < from) this.area.scrollTop = Math.max(0, (line - 4) * height);
  }

  go(line) {
    const start = this.text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const end = this.text.indexOf("\n", start);
    this.area.focus();
    this.area.setSelectionRange(start, end < 0 ? this.text.length : end);
    this.reveal(line);
  }
}

// Scrolls to the panel when a button of the view has opened it. Nothing else scrolls the page.

function revealed(root) {
  const sizes = new ResizeObserver(() => {
    const shared = globalThis.__workbench;
    if (!root.offsetHeight || !(performance.now() - shared?.opening < OPENING_MS)) return;
    shared.opening = undefined;
    root.scrollIntoView({ block: "nearest" });
  });
  sizes.observe(root);
  return () => sizes.disconnect();
}

// The panel

function render({ model, el }) {
  const root = made("div", "wb-recipe", el);
  const tabs = made("div", "wb-tabs", root);
  tabs.setAttribute("role", "tablist");
  const bar = made("div", "wb-recipe-bar", root);
  const problems = made("ol", "wb-problems", root);
  problems.setAttribute("aria-live", "polite");
  const pages = made("div", "wb-pages", root);
  const stops = [];
  const chosen = {};
  let timer;

  const listen = (event, call) => { model.on(event, call); stops.push(() => model.off(event, call)); };
  const texts = () => Object.fromEntries(Object.entries(editors).map(([part, editor]) => [part, editor.text]));
  const send = (kind, more = {}) => model.send({ kind, ...more });
  let ran = false;
  const run = () => { clearTimeout(timer); ran = true; told.textContent = ""; send("run", { texts: texts() }); };
  const typed = () => { clearTimeout(timer); ran = false; timer = setTimeout(() => send("typed", { texts: texts() }), CHECK_QUIET_MS); };

  function tab(key, label) {
    const page = made("div", "wb-page", pages);
    page.setAttribute("role", "tabpanel");
    const head = button(label, label, tabs, () => open(key), "wb-tab");
    head.setAttribute("role", "tab");
    chosen[key] = { head, page };
    return page;
  }

  function open(key) {
    for (const [name, { head, page }] of Object.entries(chosen)) {
      page.hidden = name !== key;
      head.setAttribute("aria-selected", String(name === key));
    }
    if (key === "data" && !model.get("table").step && model.get("steps").length) {
      send("look", { step: model.get("steps").at(-1).name, start: 0 });
    }
    if (key === "saved") send("saved");
    bar.hidden = !(key in editors) && !told.textContent;
    act.hidden = !(key in editors);
  }

  const editors = {};
  for (const [part, label, indent] of EDITORS) editors[part] = new Editor(label, indent, tab(part, label), typed, run);
  const data = tab("data", "Data");
  const steps = made("div", "wb-steps", data);
  const grid = made("div", "wb-grid", data);
  const pager = made("div", "wb-pager", data);
  const saving = tab("saved", "Save");

  const act = button("Run", "Draw this recipe (Ctrl+Enter in a text)", bar, run, "wb-run");
  const told = made("span", "wb-said", bar);
  told.setAttribute("role", "status");

  function showProblems() {
    const all = model.get("problems");
    for (const [part, editor] of Object.entries(editors)) {
      const own = all.filter((one) => one.part === part);
      editor.mark(new Map(own.filter((one) => one.line).map((one) => [one.line, one.message])));
      if (ran && own[0]?.line) editor.reveal(own[0].line);
      chosen[part].head.classList.toggle("wb-has-problem", own.length > 0);
    }
    problems.replaceChildren(...all.map(({ part, line, place, message }) => {
      const item = made("li", "");
      const where = [EDITORS.find(([key]) => key === part)?.[1], line && `line ${line}`].filter(Boolean).join(", ");
      if (where) button(where, "Go there", item, () => { open(part); editors[part].go(line ?? 1); }, "wb-where");
      made("span", "", item, line ? message.replace(/^Line \d+: /, "") : message);
      if (place && !line) made("span", "wb-place", item, place);
      return item;
    }));
  }

  function showSteps() {
    const at = model.get("table").step;
    steps.replaceChildren(...model.get("steps").map(({ name, size }) => {
      const node = button(name, size, null, () => send("look", { step: name, start: 0 }), "wb-step-name");
      node.setAttribute("aria-pressed", String(name === at));
      made("small", "", node, size);
      return node;
    }));
  }

  function showTable() {
    const { step, start, total, told, columns = [], rows = [] } = model.get("table");
    showSteps();
    grid.replaceChildren();
    pager.replaceChildren();
    if (!step) return;
    const table = made("table", "", grid);
    const head = made("tr", "", made("thead", "", table));
    made("th", "wb-row-number", head, "");
    for (const { name, kind } of columns) {
      const cell = made("th", kind === "text" ? "wb-words" : "", head, name);
      cell.title = `${name} (${kind})`;
    }
    const body = made("tbody", "", table);
    rows.forEach((row, n) => {
      const line = made("tr", "", body);
      made("td", "wb-row-number", line, String(start + n));
      row.forEach((value, place) => {
        const name = value === null ? "wb-null" : columns[place].kind === "text" ? "wb-words" : "";
        made("td", name, line, value === null ? "–" : String(value));
      });
    });
    const size = Math.max(rows.length, 50);
    const end = start + rows.length;
    const back = button("‹", "Earlier rows", pager, () => send("look", { step, start: Math.max(0, start - size) }));
    made("span", "", pager, told);
    const on = button("›", "Later rows", pager, () => send("look", { step, start: end }));
    back.disabled = start === 0;
    on.disabled = end >= total;
  }

  function showSaved() {
    const { boards = [], board = "", name = "", history = [] } = model.get("saved");
    const kept = Object.fromEntries([...saving.querySelectorAll("input")].map((node) => [node.name, node.value]));
    saving.replaceChildren();
    const form = made("form", "wb-save", saving);
    const list = made("datalist", "", form);
    list.id = `wb-boards-${Math.random().toString(36).slice(2)}`;
    list.append(...boards.map((one) => Object.assign(document.createElement("option"), { value: one })));
    const input = (key, label, value) => {
      const field = made("label", "", form, label);
      return Object.assign(made("input", "", field), { name: key, value: value || kept[key] || "", required: true, autocomplete: "off" });
    };
    const where = input("board", "Dashboard", board || boards[0]);
    where.setAttribute("list", list.id);
    const called = input("name", "Name of the plot", name);
    const save = made("button", "wb-text-button wb-run", form, "Save");
    save.title = "Save as a new plot, or as the next revision of the plot of this name";
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send("save", { board: where.value, name: called.value, texts: texts() });
    });
    if (!history.length) return;
    const rows = made("tbody", "", made("table", "wb-history", saving));
    history.forEach(({ revision, origin, at, by }, n) => {
      const row = made("tr", "", rows);
      for (const text of [`revision ${revision}`, origin, at, by]) made("td", "", row, text);
      const cell = made("td", "", row, n ? undefined : "newest");
      if (n) button("go back to this one", `Save revision ${revision} again as the newest; all revisions are kept`, cell, () => send("restore", { revision }));
    });
  }

  function showTexts() {
    for (const [part, text] of Object.entries(model.get("texts"))) editors[part].text = text;
  }

  listen("change:texts", showTexts);
  listen("change:problems", showProblems);
  listen("change:steps", showSteps);
  listen("change:table", showTable);
  listen("change:saved", showSaved);
  listen("change:said", () => { told.textContent = model.get("said"); bar.hidden = act.hidden && !told.textContent; });
  showTexts();
  showProblems();
  showTable();
  showSaved();
  open("transform");
  const opened = revealed(root);
  return () => { opened(); clearTimeout(timer); for (const stop of stops) stop(); };
}

export default { render };
