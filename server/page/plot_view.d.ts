// The plot view of the notebook, which the server serves beside the page's own files.
export function steady(layout: any, keep: string): any;

declare const view: { render(given: { model: any; el: HTMLElement }): () => void };
export default view;
