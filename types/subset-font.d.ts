// The package ships no types; only what is called is declared.
declare module "subset-font" {
  export default function subsetFont(
    font: Buffer,
    text: null,
    options: {
      readonly targetFormat: "truetype";
      readonly keepAllGlyphs: true;
      readonly variationAxes: Readonly<Record<string, number>>;
    },
  ): Promise<Buffer>;
}
