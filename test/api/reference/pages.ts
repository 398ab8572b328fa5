/** Reads the pages of the reference as a browser would follow them. */
/** By their addresses. */
export type Pages = ReadonlyMap<string, string>;
interface App {
  request(path: string): Response | Promise<Response>;
}

/** The first page, and every page that its menu names. */
export async function pagesOf(app: App): Promise<Pages> {
  const pages = new Map<string, string>();
  const waiting = ["/docs"];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (pages.has(path)) continue;
    const answer = await app.request(path);
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
    const page = await answer.text();
    pages.set(path, page);
    waiting.push(...attributesOf(page, "href").filter((link) => /^\/docs\/[\w-]+$/.test(link)));
  }
  return pages;
}

export function attributesOf(page: string, name: string): readonly string[] {
  return [...page.matchAll(new RegExp(`<[a-z][^<>]* ${name}="([^"]*)"`, "g"))].map(
    ([, value]) => value ?? "",
  );
}

/** What a reader sees, a space where an element begins or ends. */
export function textOf(page: string): string {
  const words = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" } as const;
  return page
    .replaceAll(/<wbr\/?>|<\/?(?:var|b|i|u)>/g, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (name) => words[name as keyof typeof words])
    .replaceAll(/\s+/g, " ");
}

/** Links that lead nowhere, and names that two places of a page have. */
export async function wrongLinks(app: App, pages: Pages): Promise<readonly string[]> {
  const wrong: string[] = [];
  const seen = new Map<string, boolean>();
  for (const [path, page] of pages) {
    const names = attributesOf(page, "id");
    for (const link of new Set(attributesOf(page, "href"))) {
      if (link === "data:,") continue;
      const isThere = link.startsWith("#")
        ? names.includes(link.slice(1))
        : (seen.get(link) ?? (await leads(app, link)));
      seen.set(link, isThere);
      if (!isThere) wrong.push(`${path}: ${link}`);
    }
    const twice = names.filter((name, i) => names.indexOf(name) !== i);
    wrong.push(...twice.map((name) => `${path}: two of #${name}`));
  }
  return wrong;
}

async function leads(app: App, link: string): Promise<boolean> {
  const [path = "", place] = link.split("#");
  const answer = await app.request(path);
  if (answer.status !== 200) return false;
  return place === undefined || attributesOf(await answer.text(), "id").includes(place);
}
