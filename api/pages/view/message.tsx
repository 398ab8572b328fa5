/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Assets } from "../assets.ts";
import type { Speech } from "../words/index.ts";
import { Page } from "./layout.tsx";

interface MessageProps {
  readonly title: string;
  readonly text: string;
  readonly speech: Speech;
  readonly assets: Assets;
}

/** A page that has nothing but something to say. */
export function MessagePage({ title, text, speech, assets }: MessageProps) {
  return (
    <Page title={title} speech={speech} assets={assets}>
      <main class="ticket lone">
        <div class="body">
          <h1>{title}</h1>
          <p>{text}</p>
        </div>
      </main>
    </Page>
  );
}
