/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { Brand, Sheet } from "./layout.tsx";

interface MessageProps {
  readonly title: string;
  readonly text: string;
  readonly style: string;
}

/** A page that has nothing but something to say. */
export function MessagePage({ title, text, style }: MessageProps) {
  return (
    <Sheet title={title} style={style}>
      <body class="lone">
        <main class="card">
          <Brand />
          <h1>{title}</h1>
          <p class="muted">{text}</p>
          <p>
            <a href="/dashboard">To the overview</a>
          </p>
        </main>
      </body>
    </Sheet>
  );
}
