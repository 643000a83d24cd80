// Keeps what plotly.js writes into a page from fetching, running and replacing the page, whatever a figure holds.
// It looks at each attribute before the element has it: a style that is already there is fetched when plotly measures.
// `scope` selects the elements that hold figures; null is the whole page.
((scope) => {
  const scopes = (globalThis.__workbenchInert ??= new Set());
  const first = !scopes.size;
  scopes.add(scope);
  if (!first) return;

  const LINK = /^(https:\/\/|mailto:)/i;
  const PICTURE = /^(data:image\/(png|jpeg|gif|webp);base64,|blob:|#)/i;
  const FUNCTION = /(url|src|image|image-set|cross-fade|element|paint)\s*\(|@import|\\/i;
  const LOCAL = /url\(\s*["']?([^"')]*)["']?\s*\)/gi;
  const TEXTS = new Set(["a", "tspan", "text"]);
  const PAINTED = new Set([
    "style", "fill", "stroke", "filter", "mask", "clip-path", "cursor", "marker", "marker-start", "marker-mid", "marker-end",
  ]);
  const LINKED = new Set(["href", "target", "show", "src", "srcset", "ping", "action", "formaction", "srcdoc"]);
  const plain = { set: Element.prototype.setAttribute, setIn: Element.prototype.setAttributeNS };

  // Elements of plotly's texts are made before they are put into the page.
  function watched(node) {
    if (!node.isConnected) return TEXTS.has(node.localName) && node.namespaceURI.endsWith("svg");
    for (const one of scopes) if (one === null || node.closest(one)) return true;
    return false;
  }

  const here = () => document.baseURI.split("#")[0] + "#";

  function paintsOnly(value) {
    const left = value.replace(LOCAL, (found, address) => (address.startsWith("#") || address.startsWith(here()) ? "" : found));
    return !FUNCTION.test(left);
  }

  // The value that the attribute may have; null if it may not be there.
  function allowed(node, name, value) {
    if (name.startsWith("on") || name === "srcdoc" || name === "ping") return null;
    if (PAINTED.has(name)) return paintsOnly(value) ? value : null;
    if (name === "target") return "_blank";
    if (name === "show") return "new";
    if (name !== "href") return PICTURE.test(value) ? value : null;
    if (node.localName === "a") return LINK.test(value) ? value : null;
    return PICTURE.test(value) ? value : null;
  }

  function set(node, name, value, write) {
    const last = name.slice(name.lastIndexOf(":") + 1).toLowerCase();
    if (!(PAINTED.has(last) || LINKED.has(last) || last.startsWith("on")) || !watched(node)) return write(value);
    const text = String(value);
    const safe = allowed(node, last, text);
    if (safe === null) {
      if (text) console.warn(`Workbench left out of a figure: ${last}="${text.slice(0, 80)}".`);
      return node.removeAttribute(name);
    }
    write(safe);
    if (last === "href" && node.localName === "a") {
      plain.set.call(node, "target", "_blank");
      plain.set.call(node, "rel", "noopener noreferrer");
    }
  }

  Element.prototype.setAttribute = function setAttribute(name, value) {
    return set(this, String(name), value, (safe) => plain.set.call(this, name, safe));
  };
  Element.prototype.setAttributeNS = function setAttributeNS(space, name, value) {
    return set(this, String(name), value, (safe) => plain.setIn.call(this, space, name, safe));
  };
})
