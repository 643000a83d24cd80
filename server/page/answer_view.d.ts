// What shows the check of an answer, which the server serves from the notebook's folder beside the page's own files.
export function showAnswer(root: HTMLElement, found: { problems: string[]; words: string; hints: string[]; numbers: string }, copyButton: (text: string, title: string, copied: string) => Node): void;
