// Types of what the page takes from preact.js; `tsc` reads them, browsers never do.
export interface Signal<T = any> { value: T; peek(): T; subscribe(call: (value: T) => void): () => void }
export interface ReadonlySignal<T = any> { readonly value: T; peek(): T; subscribe(call: (value: T) => void): () => void }
export function signal<T>(value: T): Signal<T>;
export function computed<T>(make: () => T): ReadonlySignal<T>;
export function effect(run: () => void | (() => void)): () => void;
export function html(strings: TemplateStringsArray, ...values: any[]): any;
export function render(node: any, parent: Element): void;
export function useEffect(run: () => void | (() => void), on?: readonly any[]): void;
export function useLayoutEffect(run: () => void | (() => void), on?: readonly any[]): void;
export function useMemo<T>(make: () => T, on: readonly any[]): T;
export function useRef<T>(value: T): { current: T };
export function useId(): string;
export function useState<T>(value: T | (() => T)): [T, (next: T | ((now: T) => T)) => void];
