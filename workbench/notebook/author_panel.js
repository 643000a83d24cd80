// The author's panel: what was said, the wish, the draft in words and numbers, its difference, and the decision.

function button(text, title, parent, act, name = "") {
  const node = made("button", `wb-text-button ${name}`, parent, text);
  node.type = "button";
  node.title = title;
  node.addEventListener("click", act);
  return node;
}

function render({ model, el }) {
  const stops = [];
  const listen = (event, call) => { model.on(event, call); stops.push(() => model.off(event, call)); };
  const send = (kind, more = {}) => model.send({ kind, ...more });
  const root = made("div", "wb-author", el);
  const said = made("div", "wb-said-list", root);
  said.setAttribute("role", "log");
  said.setAttribute("aria-label", "Conversation");
  said.tabIndex = 0;

  const form = made("form", "wb-wish", root);
  const wish = made("textarea", "wb-wish-text", form);
  wish.rows = 2;
  wish.placeholder = "What should the plot show? For example: capacity fade by batch, marked below 80 %";
  wish.setAttribute("aria-label", "Wish");
  const ask = made("button", "wb-text-button wb-run wb-ask", form, "Draw");
  ask.title = "Ask for the plot, or for a change of the one below (Enter)";
  const stop = button("Stop", "Stop the author; nothing is saved", form, () => send("stop"), "wb-author-stop");
  const submit = () => {
    const text = wish.value.trim();
    if (!text || ask.disabled) return;
    wish.value = "";
    send("ask", { text });
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  wish.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the notebook has shortcuts of its own
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });

  const tools = made("div", "wb-author-tools", root);
  const undo = button("Undo", "Go back to what was shown before the newest draft", tools, () => send("undo"), "wb-author-undo");
  const beside = button("Compare", "Show the plot before beside the draft", tools, () => send("beside"), "wb-author-beside");
  button("Copy the context", "Copy all that a language model needs for the wish above; then paste its answer", tools, () => {
    send("context", { text: wish.value.trim() });
  }, "wb-author-context");
  const open = button("Paste an answer", "Check and draw the answer of a language model of your own", tools, () => {
    paste.hidden = !paste.hidden;
    open.setAttribute("aria-expanded", String(!paste.hidden));
    if (!paste.hidden) answer.focus();
  }, "wb-author-paste");
  open.setAttribute("aria-expanded", "false");
  const told = made("span", "wb-said", tools);
  told.setAttribute("role", "status");
  const spent = made("span", "wb-said wb-spent", tools);

  const paste = made("form", "wb-paste", root);
  paste.hidden = true;
  const answer = made("textarea", "wb-paste-text", paste);
  answer.rows = 5;
  answer.setAttribute("aria-label", "Answer of a language model");
  answer.placeholder = '{"say": "...", "draft": {"name": "...", "config": {...}}}';
  answer.addEventListener("keydown", (event) => event.stopPropagation());
  const check = made("button", "wb-text-button wb-run", paste, "Check and draw");
  check.title = "Check the pasted answer, and draw its draft";
  paste.addEventListener("submit", (event) => {
    event.preventDefault();
    if (answer.value.trim()) send("paste", { text: answer.value });
  });

  const writing = made("div", "wb-writing", root);
  const written = made("p", "wb-written", writing);
  const text = made("pre", "wb-author-numbers", writing);
  text.tabIndex = 0;
  text.setAttribute("aria-label", "What the model writes");

  const draft = made("div", "wb-draft", root);

  function showSaid() {
    said.replaceChildren();
    for (const { who, text } of model.get("said")) {
      const line = made("p", `wb-said-by wb-by-${who}`, said);
      made("b", "", line, who === "you" ? "You: " : "Author: ");
      made("span", "", line, text);
    }
    said.hidden = !said.childElementCount;
    said.scrollTop = said.scrollHeight;
  }

  function showDraft() {
    const { name = "", numbers = "", hints = [], problems = [], words = "", parts = [], accept = false, board = "" } = model.get("draft");
    draft.replaceChildren();
    showAnswer(draft, { problems, words, hints, numbers }, (text, title, copied) =>
      button(text, title, null, () => navigator.clipboard?.writeText(copied)));
    if (parts.length) {
      const holder = details(`What changes: ${parts.map((one) => one.part).join(", ")}`, draft, "wb-author-difference");
      for (const { part, lines } of parts) {
        made("h4", "", holder, part);
        const code = made("pre", "wb-diff", holder);
        for (const { sign, text } of lines) {
          const kind = { "+": "wb-added", "-": "wb-removed", "@": "wb-gap" }[sign] ?? "";
          made("div", kind, code, `${sign === "@" ? " " : sign} ${text}`);
        }
      }
    }
    if (!accept) return;
    const form = made("form", "wb-accept", draft);
    const field = made("label", "", form, "Name of the plot");
    const input = made("input", "", field);
    input.value = name;
    input.required = true;
    input.addEventListener("keydown", (event) => event.stopPropagation());
    const save = made("button", "wb-text-button wb-run wb-accept-button", form, `Accept into '${board}'`);
    save.title = "Save the draft on the dashboard";
    form.addEventListener("submit", (event) => { event.preventDefault(); send("accept", { name: input.value }); });
  }

  function showState() {
    const { busy = "", undo: can = false, beside: compare = false, shown = false, spent: cost = "" } = model.get("state");
    spent.textContent = cost;
    ask.disabled = Boolean(busy);
    check.disabled = Boolean(busy);
    stop.hidden = !busy;
    undo.disabled = !can || Boolean(busy);
    beside.disabled = !compare;
    beside.setAttribute("aria-pressed", String(shown));
    told.textContent = busy || model.get("told");
    root.setAttribute("aria-busy", String(Boolean(busy)));
  }

  // No live region: a screen reader would read every word; the state says when it ends.
  function showWriting() {
    const { text: end = "", characters } = model.get("writing");
    writing.hidden = characters === undefined;
    written.textContent = characters ? `The model has written ${characters} characters:` : "The model is asked …";
    text.hidden = !end;
    text.textContent = end;
    text.scrollTop = text.scrollHeight;
  }

  async function copy() {
    const text = model.get("context");
    if (!text) return;
    try {
      await navigator.clipboard.writeText(text);
      told.textContent = `Copied ${text.length} characters. Give them to a language model, then paste its answer.`;
    } catch {
      answer.value = text; // a page without a secure address has no clipboard
      paste.hidden = false;
      answer.select();
      told.textContent = "Copy the marked text, give it to a language model, and paste its answer here.";
    }
  }

  listen("change:said", showSaid);
  listen("change:draft", showDraft);
  listen("change:state", showState);
  listen("change:told", showState);
  listen("change:context", copy);
  listen("change:writing", showWriting);
  showSaid();
  showDraft();
  showState();
  showWriting();
  return () => { for (const one of stops) one(); };
}

export default { render };
