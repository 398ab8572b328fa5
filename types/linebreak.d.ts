// The package ships no types; only what is called is declared.
declare module "linebreak" {
  export default class LineBreaker {
    constructor(text: string);
    /** The next place where a line may end; null after the last, which is the end of the text. */
    nextBreak(): { readonly position: number } | null;
  }
}
