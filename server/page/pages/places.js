// Where the plots of a dashboard are, on twelve columns.

/** @typedef {{ plot_id: string, x: number, y: number, w: number, h: number }} Place */

/** Where each plot is; those without a place come below. @param {Place[]} layout @param {any[]} plots @returns {Map<string, Place>} */
export function placesOf(layout, plots) {
  const known = new Set(plots.map((one) => one.id));
  const made = new Map(layout.filter((one) => known.has(one.plot_id)).map((one) => [one.plot_id, { ...one }]));
  const below = Math.max(0, ...[...made.values()].map((one) => one.y + one.h));
  plots.filter((one) => !made.has(one.id)).forEach((plot, n) => {
    made.set(plot.id, { plot_id: plot.id, x: 6 * (n % 2), y: below + 8 * Math.floor(n / 2), w: 6, h: 8 });
  });
  return made;
}
