/** The words that came with the page, in its language. */
export function say(key: string, about: Readonly<Record<string, string>> = {}): string {
  const said = document.querySelector<HTMLElement>("[data-words]")?.dataset.words ?? "{}";
  const words = JSON.parse(said) as Readonly<Record<string, string>>;
  return (words[key] ?? "").replace(/\{(\w+)\}/g, (whole, name: string) => about[name] ?? whole);
}
