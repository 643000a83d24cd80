// A link inside a figure belongs to its author. It opens in a new tab, and first says where it leads.

import { html, useEffect, useState } from "../vendor/preact.js";
import { Dialog } from "./parts.js";

export function LinkGuard() {
  const [address, setAddress] = useState("");
  useEffect(() => {
    /** @param {MouseEvent} event */
    const clicked = (event) => {
      const link = event.target instanceof Element ? event.target.closest(".wb-figure a") : null;
      if (!link) return;
      event.preventDefault();
      event.stopPropagation();
      const found = link.getAttribute("href") ?? link.getAttribute("xlink:href") ?? link.getAttributeNS("http://www.w3.org/1999/xlink", "href") ?? "";
      if (/^(https?:\/\/|mailto:)/i.test(found)) setAddress(found);
    };
    addEventListener("click", clicked, true);
    return () => removeEventListener("click", clicked, true);
  }, []);
  if (!address) return null;
  const host = address.startsWith("mailto:") ? address : new URL(address).host;
  const open = () => { window.open(address, "_blank", "noopener,noreferrer"); setAddress(""); };
  return html`<${Dialog} title="Leave this page?" onClose=${() => setAddress("")} foot=${html`
      <button type="button" class="button" onClick=${() => setAddress("")}>Stay</button>
      <button type="button" class="button main" onClick=${open}>Open in a new tab</button>`}>
    <p>The author of this figure put a link into it. It leads to <strong class="break">${host}</strong>:</p>
    <p class="soft small break">${address.slice(0, 400)}</p><//>`;
}
