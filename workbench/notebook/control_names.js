// Names and states of controls for people who hear the page. ipywidgets shows them by place and colour alone.

const LABEL = ".widget-label";
const WATCHED = ["class", "style", "aria-valuenow", "aria-valuetext"];

function set(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

function labelOf(field) {
  const label = field.querySelector(LABEL);
  return label ? label.textContent.trim() : "";
}

function press(button) {
  set(button, "aria-pressed", String(button.classList.contains("mod-active")));
}

function nameField(field, number) {
  const name = labelOf(field);
  const ends = field.querySelectorAll(".noUi-handle");
  ends.forEach((handle, place) => {
    set(handle, "aria-label", ends.length === 2 ? `${name}, ${place ? "to" : "from"}` : name);
    // The slider rounds what it says to one place; the numbers beside it are exact.
    const typed = field.querySelectorAll(".wb-number > input")[place];
    if (typed?.value) set(handle, "aria-valuetext", typed.value);
  });
  const group = field.querySelector(".widget-toggle-buttons, .wb-toggles");
  if (group) {
    set(group, "role", "group");
    set(group, "aria-label", name);
  }
  field.querySelectorAll(".widget-toggle-button").forEach(press);
  for (const input of field.querySelectorAll("input[placeholder=filter]")) set(input, "aria-label", `${name}, filter`);
  if (field.classList.contains("wb-optional-number")) {
    for (const box of field.querySelectorAll("input[type=checkbox]")) set(box, "aria-label", `${name}, auto`);
  }
  const hint = field.querySelector(".wb-hint");
  const said = hint && hint.style.display !== "none" && hint.textContent.trim();
  if (hint && !hint.id) hint.id = `wb-hint-${Math.random().toString(36).slice(2)}`;
  const wrong = field.classList.contains("wb-wrong");
  for (const input of field.querySelectorAll("input, select, textarea")) {
    set(input, "aria-describedby", said ? hint.id : null);
    set(input, "aria-invalid", wrong ? "true" : null);
  }
  if (hint) set(hint, "role", "status");
}

function nameGroups(controls) {
  const shared = controls.parentElement?.classList.contains("wb-board-frame");
  for (const [kind, name] of [["wb-data", "Data"], ["wb-look", "View"]]) {
    for (const group of controls.querySelectorAll(`:scope > .${kind}`)) {
      set(group, "role", "group");
      set(group, "aria-label", shared ? `Shared params, ${name.toLowerCase()}` : `${name} params`);
    }
  }
}

function render({ el }) {
  el.style.display = "none";
  let controls = null;
  let waiting = 0;
  const name = () => {
    waiting = 0;
    controls.querySelectorAll(".wb-field").forEach(nameField);
    nameGroups(controls);
  };
  const soon = () => { waiting ||= requestAnimationFrame(name); };
  // Only the controls are watched: a plot that draws changes thousands of nodes.
  const inside = new MutationObserver(soon);
  const switched = new MutationObserver(([{ target }]) => press(target));
  const outside = new MutationObserver(() => find());
  let host = null;
  function find() {
    const found = host.querySelector(":scope > .wb-controls");
    if (found === controls) return;
    inside.disconnect();
    cancelAnimationFrame(waiting);
    waiting = 0;
    controls = found;
    if (!controls) return;
    inside.observe(controls, { childList: true, subtree: true, attributes: true, attributeFilter: WATCHED });
    soon();
  }
  const frame = requestAnimationFrame(() => {
    host = el.parentElement;
    if (!host) return;
    outside.observe(host, { childList: true });
    find();
    const button = host.querySelector(":scope > .wb-board-bar > .widget-toggle-button");
    if (!button) return;
    switched.observe(button, { attributeFilter: ["class"] });
    press(button);
  });
  return () => {
    cancelAnimationFrame(frame);
    cancelAnimationFrame(waiting);
    inside.disconnect();
    outside.disconnect();
    switched.disconnect();
  };
}

export default { render };
