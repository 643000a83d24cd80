// Where the focus goes when what had it goes. Else it would be lost: keys would be heard by nobody, and a screen reader
// would begin at the top of the page.

/** The parts of a page that can be named to whoever hears it. */
const PARTS = "dialog, [role=tabpanel], article, aside, form, section, main";

/** Put the focus on a part of the page that is not a field or a button. @param {HTMLElement | null | undefined} node */
export function focusPart(node) {
  if (!node) return;
  if (!node.hasAttribute("tabindex")) node.tabIndex = -1;
  node.focus({ preventScroll: true });
}

/** From now on a focus whose element is removed or disabled goes to the part of the page that it was in. */
export function keepFocus() {
  /** @type {any} the element that had the focus last */
  let last = null;
  /** @type {Element[]} the parts around it, the innermost first */
  let parts = [];
  document.addEventListener("focusin", ({ target }) => {
    last = target;
    parts = [];
    for (let at = last.parentElement?.closest(PARTS); at; at = at.parentElement?.closest(PARTS)) parts.push(at);
  });
  new MutationObserver(() => {
    const now = document.activeElement;
    if (!last || (last.isConnected && !last.disabled) || (now !== last && now !== document.body)) return;
    last = null;
    focusPart(/** @type {any} */ (parts.find((one) => one.isConnected) ?? document.getElementById("content")));
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}
