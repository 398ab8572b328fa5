/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { Book } from "../book.ts";
import { Navigation } from "./navigation.tsx";

/** Addresses of what a page loads. */
export interface Assets {
  readonly style: string;
  readonly script: string;
}
interface SheetProps {
  readonly book: Book;
  readonly assets: Assets;
  readonly here: string;
  readonly title: string;
  readonly children?: Child;
}

/** What every page has around it: at a desk the way around stands at the left, on a phone it folds away at the top. */
export function Sheet({ book, assets, here, title, children }: SheetProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · ${book.document.info.title} API`}</title>
        <link rel="stylesheet" href={assets.style} />
        <link rel="icon" href="data:," />
        <script type="module" src={assets.script} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="topbar">
          <Brand title={book.document.info.title} />
          <details class="menu">
            <summary>Menu</summary>
            <Navigation book={book} label="Menu" here={here} />
          </details>
        </header>
        <div class="frame">
          <aside class="side">
            <Brand title={book.document.info.title} />
            <Navigation book={book} label="API reference" here={here} />
          </aside>
          <main id="main">{children}</main>
        </div>
      </body>
    </html>
  );
}

function Brand({ title }: { readonly title: string }) {
  return (
    <a class="brand" href="/docs">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M3 8a3 3 0 0 1 3-3h12a3 3 0 0 1 3 3v1.5a2.5 2.5 0 0 0 0 5V16a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3v-1.5a2.5 2.5 0 0 0 0-5z" />
        <path class="tear" d="M14.5 7.5v9" />
      </svg>
      <span>
        {title} <small>API</small>
      </span>
    </a>
  );
}
