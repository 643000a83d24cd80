// The controls of a plot, as Python decided them (`workbench/recipe/controls.py`): one element for each widget.

import { html } from "../vendor/preact.js";
import { Combobox, Dropdown, Toggles, ToggleMultiple, ManyChoices } from "./choices.js";
import { Checkbox, DateField, DateTime, JsonField, TextField } from "./texts.js";
import { NumberField, Optional, RangeSlider, Slider } from "./numbers.js";

/** @typedef {import("../plot/live.js").Control} Control */
/** @typedef {{ control: Control, id: string, refused?: string, choose: (value: any, how?: { moving?: boolean }) => void }} FieldGiven */

/** The element of each widget. @type {Record<string, any>} */
export const FIELDS = {
  toggle_buttons: Toggles, dropdown: Dropdown, combobox: Combobox,
  toggle_multiple: ToggleMultiple, select_multiple: ManyChoices, filtered_select_multiple: ManyChoices,
  checkbox: Checkbox,
  int_slider: Slider, float_slider: Slider, int_range_slider: RangeSlider, float_range_slider: RangeSlider,
  bounded_int: NumberField, bounded_float: NumberField, int: NumberField, float: NumberField, optional_number: Optional,
  json: JsonField, date: DateField, datetime: DateTime, text: TextField, textarea: TextField,
};

/** @param {{ control: Control, refused?: string, choose: FieldGiven["choose"], prefix: string }} given */
export function Field({ control, refused, choose, prefix }) {
  const Kind = FIELDS[control.widget];
  if (!Kind) return null;
  const id = `${prefix}-${control.name}`.replace(/[^\w-]/g, "_");
  const about = control.description !== control.label ? control.description : undefined;
  return html`<div class=${`control ${refused ? "refused" : ""}`} data-widget=${control.widget} data-param=${control.name} title=${about}>
    <${Kind} control=${control} id=${id} refused=${refused} choose=${choose} />
    ${control.note && html`<div class="hint">${control.note}</div>`}
    ${refused && html`<div class="hint wrong" role="alert" id=${`${id}-wrong`}>${refused}</div>`}
  </div>`;
}

/**
 * All controls of a plot, in two groups: those that read data, and those that only draw.
 * @param {{ live: import("../plot/live.js").LivePlot, across?: boolean, prefix: string }} given
 */
export function ControlPanel({ live, across, prefix }) {
  const controls = live.controls.value.filter((one) => one.widget !== "hidden");
  const refused = live.refused;
  const groups = /** @type {const} */ ([["data", "Data"], ["view", "View"]]);
  const changed = Object.keys(live.chosen.value).length;
  if (!controls.length) return html`<p class="soft small">This plot has no controls.</p>`;
  return html`<div class="stack">
    ${groups.map(([kind, caption]) => {
      const mine = controls.filter((one) => one.kind === kind);
      return mine.length ? html`<section class="control-group" key=${kind} aria-label=${caption}><div class="caption">${caption}</div>
        <div class=${`controls ${across ? "across" : ""}`}>${mine.map((one) => html`<${Field} key=${one.name} control=${one} prefix=${prefix} refused=${refused[one.name]}
          choose=${(/** @type {any} */ value, /** @type {any} */ how) => live.choose(one.name, value, { wait: one.debounce_ms, ...how })} />`)}</div></section>` : null;
    })}
    ${changed ? html`<div><button type="button" class="button slim" onClick=${() => live.reset()}>Back to the saved values</button></div>` : null}
  </div>`;
}
