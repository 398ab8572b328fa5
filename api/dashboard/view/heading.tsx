/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

interface HeadingProps {
  readonly title: Child;
  /** One sentence, where the title leaves a question. */
  readonly about?: Child;
  /** The page that this one belongs to. */
  readonly above?: readonly [address: string, name: string];
  /** What can be done here: links, at its right. */
  readonly children?: Child;
}

/** The top of a page. */
export function Heading({ title, about, above, children }: HeadingProps) {
  return (
    <div class="heading">
      <div>
        {above ? (
          <a class="above" href={above[0]}>
            <span aria-hidden="true">← </span>
            {above[1]}
          </a>
        ) : null}
        <h1>{title}</h1>
        {about ? <p class="muted">{about}</p> : null}
      </div>
      {children ? <div class="actions">{children}</div> : null}
    </div>
  );
}

/** A part of a page, with its name. */
export function Card({ title, children }: { readonly title: string; readonly children?: Child }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
