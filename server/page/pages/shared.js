// What a link shows to somebody without a key: the plots, and the controls that only draw.

import { html, useEffect, useMemo } from "../vendor/preact.js";
import { get, part, post, query } from "../core/api.js";
import { useLoaded, useTitle } from "../core/load.js";
import { day } from "../core/words.js";
import { download, fileName } from "../plot/exports.js";
import { LivePlot, controlCount } from "../plot/live.js";
import { Picture } from "../plot/picture.js";
import { Footer, Trouble } from "../plot/tile.js";
import { Icon } from "../ui/icons.js";
import { Later } from "../ui/later.js";
import { Empty, Failed, Ghost, Popover } from "../ui/parts.js";

/** @param {{ token: string, framed: boolean }} given */
export default function SharedPage({ token, framed }) {
  const at = `/shared/${part(token)}`;
  const found = useLoaded((stop) => get(at, { signal: stop }), [token]);
  useTitle(found.data?.name ?? "Shared");
  if (found.error && found.error.status !== 404) return html`<main class="page"><${Failed} error=${found.error} again=${found.again} /></main>`;
  if (found.error) return html`<main class="page"><${Empty} icon="link" title="This link shows nothing any more">It has ended, was revoked, or was not copied whole. Ask whoever gave it to you.<//></main>`;
  if (!found.data) return html`<main class="page"><${Ghost} height=${420} /></main>`;
  const shared = found.data;
  return html`<main class="page" id="content">${!framed && html`<div class="head"><div><h1>${shared.name}</h1><p class="soft">${shared.description && html`<bdi>${shared.description}</bdi> · `}read only, until ${day(shared.expires_at)}</p></div></div>`}
    <div class="board">${shared.plots.map((/** @type {any} */ plot, /** @type {number} */ n) => html`<${SharedTile} key=${plot.id} at=${at} plot=${plot} number=${n} alone=${shared.plots.length === 1} downloads=${shared.downloads} turns=${shared.view_params} />`)}</div></main>`;
}

/** @param {{ at: string, plot: any, number: number, alone: boolean, downloads: boolean, turns: boolean }} given */
function SharedTile({ at, plot, number, alone, downloads, turns }) {
  const where = `${at}/plots/${part(plot.id)}`;
  const live = useMemo(() => new LivePlot({ id: plot.id, name: plot.name, source: {
    figure: (values, stop) => get(`${where}/figure${query({ values: Object.keys(values).length ? JSON.stringify(values) : "" })}`, { signal: stop }),
    detail: (asked, values, stop) => post(`${where}/figure/detail`, { ...asked, values }, { signal: stop }),
  } }), [where]);
  useEffect(() => { live.start(); return () => live.close(); }, [live]);
  const place = alone ? { x: 0, y: 0, w: 12, h: 12 } : plot.place ?? { x: 6 * (number % 2), y: 8 * Math.floor(number / 2), w: 6, h: 8 };
  return html`<article class="box tile" aria-label=${plot.name} data-plot=${plot.id} data-state=${live.error.value ? "failed" : live.answer.value ? "drawn" : "waiting"} style=${{ gridColumn: `${place.x + 1} / span ${place.w}`, gridRow: `${place.y + 1} / span ${place.h}` }}>
    <div class="tile-head"><h2 class="one-line">${plot.name}</h2>
      ${turns && controlCount(live) > 0 && html`<${Popover} panel named title=${`Controls of ${plot.name}`} buttonClass="button plain slim" label=${html`<${Icon} name="sliders" size=${16} /> Controls<span class="unseen"> of ${plot.name}</span>`}><${Later} load=${() => import("../controls/panel.js")} of="ControlPanel" rows=${3} live=${live} prefix=${`s${number}`} /><//>`}
      ${downloads && html`<button type="button" class="button plain slim icon" aria-label=${`Download the numbers of ${plot.name}`} onClick=${() => download(`${where}/data`, `${fileName(plot.name)}.csv`)}><${Icon} name="download" /></button>`}</div>
    <${Picture} live=${live} /><${Trouble} live=${live} /><${Footer} live=${live} /></article>`;
}
