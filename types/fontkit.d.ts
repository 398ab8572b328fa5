// The package ships no types; only what is called is declared.
declare module "fontkit" {
  /** A font as it was read. */
  export interface Font {
    layout(text: string): { readonly advanceWidth: number };
    hasGlyphForCodePoint(codePoint: number): boolean;
    readonly ascent: number;
    readonly unitsPerEm: number;
  }
  export function create(file: Buffer): Font;
  export function openSync(file: string): Font;
}

declare namespace PDFKit.Mixins {
  interface PDFFont {
    /** Its types leave out that it takes a font that was read before. */
    registerFont(name: string, read: import("fontkit").Font): this;
  }
}
