/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Asset, answerAsset, makeAsset } from "../http/asset.ts";
import { fault } from "../http/faults.ts";
import { answerKept, type Kept, keep } from "../http/kept.ts";
import { type Book, openBook } from "./book.ts";
import { ERRORS, OVERVIEW } from "./chapters.ts";
import { ChapterPage } from "./view/chapter.tsx";
import { ErrorsPage } from "./view/errors.tsx";
import { OverviewPage } from "./view/overview.tsx";
import { Sheet } from "./view/sheet.tsx";

/** Nothing is loaded from elsewhere, nothing is asked for afterwards. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** `GET /docs`: the OpenAPI document for people. Each page is drawn when it is first asked for, and kept: `json` is what
 *  `GET /openapi.json` answers and stays the same for as long as the process runs. */
export function mountReference(app: OpenAPIHono, json: () => string): void {
  const shelf = openShelf(json);
  app.get("/docs/assets/:name", async (c) => {
    const found = (await shelf.assets()).find(({ path }) => path === c.req.path);
    return found ? answerAsset(c, found) : notFound();
  });
  const show = async (c: Context, slug: string) => {
    const page = await shelf.page(slug);
    if (!page) return notFound();
    c.header("Content-Security-Policy", policy);
    c.header("Cross-Origin-Opener-Policy", "same-origin");
    c.header("X-Frame-Options", "DENY");
    return answerKept(c, page);
  };
  app.get("/docs", (c) => show(c, OVERVIEW));
  app.get("/docs/:page", (c) => show(c, c.req.param("page")));
}

function notFound(): never {
  throw fault("not_found");
}

interface Shelf {
  assets(): Promise<readonly [style: Asset, script: Asset]>;
  /** Null where there is no such page. */
  page(slug: string): Promise<Kept | null>;
}

function openShelf(json: () => string): Shelf {
  let book: Book | undefined;
  let made: ReturnType<Shelf["assets"]> | undefined;
  const pages = new Map<string, Kept>();
  const assets = () => {
    made ??= Promise.all([makeFile("css"), makeFile("js")]);
    // A failure is not kept: the next page tries again.
    made.catch(() => {
      made = undefined;
    });
    return made;
  };
  return {
    assets,
    async page(slug) {
      const known = pages.get(slug);
      if (known) return known;
      book ??= openBook(JSON.parse(json()));
      const drawn = draw(book, slug, await assets());
      if (drawn === null) return null;
      const kept = await keep(drawn);
      pages.set(slug, kept);
      return kept;
    },
  };
}

async function makeFile(kind: "css" | "js"): Promise<Asset> {
  const text = await readFile(join(import.meta.dirname, `reference.${kind}`));
  return makeAsset("/docs/assets", "reference", kind, text);
}

/** Without the first line browsers lay pages out as they did long ago. */
function draw(
  book: Book,
  slug: string,
  [style, script]: Awaited<ReturnType<Shelf["assets"]>>,
): string | null {
  const inside = contentsOf(book, slug);
  if (!inside) return null;
  const [title, contents] = inside;
  const page = (
    <Sheet book={book} assets={{ style: style.path, script: script.path }} here={slug} title={title}>
      {contents}
    </Sheet>
  );
  return `<!DOCTYPE html>${page}`;
}

function contentsOf(book: Book, slug: string) {
  if (slug === OVERVIEW) return ["Overview", <OverviewPage book={book} />] as const;
  if (slug === ERRORS) return ["Error codes", <ErrorsPage book={book} />] as const;
  const chapter = book.chapters.find((each) => each.slug === slug);
  return chapter && ([chapter.title, <ChapterPage book={book} chapter={chapter} />] as const);
}
