import { html } from "../vendor/preact.js";
import { user } from "../core/api.js";
import { useTitle } from "../core/load.js";
import { Empty } from "../ui/parts.js";

export default function Absent() {
  useTitle("Not here");
  return html`<${Empty} icon="search" title="There is no such page" action=${html`<a class="button" href="/">To the boards</a>`}>Check the address${user.value ? ", or search with Ctrl K" : ""}.<//>`;
}
