/** A merchant's colour as a style sheet of its own: made from its name alone, so that the policy of the pages stays as
 *  it is. */

type Rgb = readonly [red: number, green: number, blue: number];
const STYLE = /^\/assets\/brand-([0-9a-f]{6})[.]css$/;

/** Where the style sheet of a colour is. */
export function brandStyle(colour: string): string {
  return `/assets/brand-${colour.slice(1)}.css`;
}

/** The style sheet at a path; null for another path. What is written on the colour can be read: at least 4.5 to 1. */
export function styleAt(path: string): string | null {
  const digits = STYLE.exec(path)?.[1];
  if (digits === undefined) return null;
  const colour = `#${digits}`;
  const ink = inkOn(colour);
  return [
    `:root{--stub:${colour};--stub-lit:${colour};--stub-ink:${ink};--stub-soft:${ink}}`,
    `.primary,.primary:hover{background:${colour};color:${ink};box-shadow:inset 0 0 0 1.5px ${ink}}`,
    ".primary:hover{text-decoration:underline}",
  ].join("\n");
}

/** Black or white, whichever stands out more: of any colour one of the two does by 4.58 to 1. */
export function inkOn(colour: string): "#000000" | "#ffffff" {
  return contrast(colour, "#ffffff") >= contrast(colour, "#000000") ? "#ffffff" : "#000000";
}

/** From 1 to 21. Source: WCAG 2.2, contrast ratio. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(rgbOf(one)), luminance(rgbOf(other))].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function rgbOf(colour: string): Rgb {
  const at = (i: number) => Number.parseInt(colour.slice(i, i + 2), 16) / 255;
  return [at(1), at(3), at(5)];
}

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  ) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
