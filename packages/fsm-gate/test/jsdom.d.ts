/** The part of jsdom that the diagram test uses; the package ships no types. */
declare module 'jsdom' {
  export class JSDOM {
    constructor(html: string);
    readonly window: { readonly document: unknown };
  }
}
