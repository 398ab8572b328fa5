/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { Brand } from "../../merchant/verbs/brand.ts";
import type { Assets } from "../assets.ts";
import { brandStyle } from "../brand.ts";
import type { Speech } from "../words/index.ts";

/** How a page looks and speaks. */
export interface Dressed {
  readonly speech: Speech;
  readonly assets: Assets;
  /** Of the merchant; left out where a page is nobody's. */
  readonly brand?: Brand;
}

export interface PageProps extends Dressed {
  readonly title: string;
  /** With a script, the page looks after itself; without one it asks again after so many seconds. */
  readonly refreshSeconds?: number | undefined;
  readonly children?: Child;
}

/** What every page has around it. Nothing is loaded from elsewhere. */
export function Page({ title, speech, assets, brand, refreshSeconds, children }: PageProps) {
  return (
    <html lang={speech.lang}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="stylesheet" href={assets.style} />
        {brand?.colour ? <link rel="stylesheet" href={brandStyle(brand.colour)} /> : null}
        <link rel="icon" href="data:," />
        <script type="module" src={assets.script} />
        {refreshSeconds === undefined ? null : (
          <noscript>
            <meta http-equiv="refresh" content={String(refreshSeconds)} />
          </noscript>
        )}
      </head>
      <body>
        {children}
        <footer>{speech.say("poweredBy")}</footer>
      </body>
    </html>
  );
}
