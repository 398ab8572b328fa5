/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import { Form } from "./form.tsx";
import { Heading } from "./heading.tsx";

interface ConfirmProps {
  readonly title: string;
  /** The page that it is about, and where it is called off. */
  readonly above: readonly [address: string, name: string];
  readonly action: string;
  readonly submit: string;
  /** What follows from it. */
  readonly children?: Child;
}

/** What cannot be taken back is asked on a page of its own. */
export function ConfirmPage({ title, above, action, submit, children }: ConfirmProps) {
  return (
    <>
      <Heading title={title} above={above} />
      <div class="card narrow">
        <Form action={action} submit={submit} isGrave>
          {children}
        </Form>
        <p class="after">
          <a href={above[0]}>Leave it as it is</a>
        </p>
      </div>
    </>
  );
}
