/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import { Heading } from "./heading.tsx";
import { Code } from "./shown.tsx";

interface SecretProps {
  readonly title: string;
  /** What the secret is called. */
  readonly name: string;
  readonly secret: string;
  /** Where it goes on. */
  readonly to: readonly [address: string, name: string];
  /** How it is used. */
  readonly children?: Child;
}

/** A secret, shown in the answer to the form that made it and nowhere else. */
export function SecretPage({ title, name, secret, to, children }: SecretProps) {
  return (
    <>
      <Heading title={title} />
      <section class="card narrow secret" aria-labelledby="secret-name">
        <h2 id="secret-name">{name}</h2>
        <p class="warning">Copy it now. It is shown this once and kept nowhere.</p>
        <p class="value">
          <Code>{secret}</Code>
        </p>
        {children}
        <p class="after">
          <a class="button primary" href={to[0]}>
            {to[1]}
          </a>
        </p>
      </section>
    </>
  );
}
