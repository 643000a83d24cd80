// A field for a number. It is a text field, because a number field of the browser drops what it does not know.

const KEYS = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

function render({ model, el }) {
  el.classList.add("jupyter-widgets", "widget-inline-hbox", "widget-text", "wb-number");
  const label = document.createElement("label");
  label.className = "widget-label";
  const input = document.createElement("input");
  input.type = "text";
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.spellcheck = false;
  input.setAttribute("role", "spinbutton");
  // Each field on a page loads this file anew, so a count would begin anew too.
  input.id = `wb-number-${Math.random().toString(36).slice(2)}`;
  label.htmlFor = input.id;
  el.append(label, input);

  function show() {
    const text = model.get("text");
    if (input.value !== text) input.value = text;
    const number = Number(text);
    if (text.trim() && Number.isFinite(number)) input.setAttribute("aria-valuenow", text);
    else input.removeAttribute("aria-valuenow");
    input.setAttribute("aria-valuetext", text || "empty");
  }

  function about() {
    const text = model.get("description");
    label.textContent = text;
    label.title = input.title = model.get("tooltip");
    label.hidden = !text;
    if (text) input.removeAttribute("aria-label");
    else input.setAttribute("aria-label", model.get("name"));
    input.disabled = model.get("disabled");
    for (const [key, name] of [["low", "aria-valuemin"], ["high", "aria-valuemax"]]) {
      const bound = model.get(key);
      if (!bound) input.removeAttribute(name);
      else input.setAttribute(name, bound);
    }
  }

  function send() {
    if (input.value === model.get("text")) return;
    model.set("text", input.value);
    model.save_changes();
  }

  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
    if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    model.send({ kind: "step", by: KEYS[event.key], text: input.value });
  });
  const shown = ["text"];
  const told = ["description", "name", "tooltip", "disabled", "low", "high"];
  for (const key of shown) model.on(`change:${key}`, show);
  for (const key of told) model.on(`change:${key}`, about);
  about();
  show();
  return () => {
    for (const key of shown) model.off(`change:${key}`, show);
    for (const key of told) model.off(`change:${key}`, about);
  };
}

export default { render };
