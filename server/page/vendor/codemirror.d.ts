declare const codemirror: any;
export = codemirror;
