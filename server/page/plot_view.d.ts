// The plot view of the notebook, which the server serves beside the page's own files.
export function render(given: { model: any; el: HTMLElement }): () => void;
export function steady(layout: any, keep: string): any;
