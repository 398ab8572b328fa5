/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { STATUS_CODES } from "node:http";
import type { Book } from "../book.ts";
import type { Refusal } from "../chapters.ts";
import { shapeOf } from "../fields.ts";
import { pretty } from "../pretty.ts";
import { Status } from "./answers.tsx";
import { Body } from "./fields.tsx";
import { Panel } from "./panel.tsx";

/** Every code that a refusal may have, and what to do about it. */
export function ErrorsPage({ book }: { readonly book: Book }) {
  const statuses = [...new Set(book.refusals.map(({ status }) => status))];
  return (
    <>
      <header class="lead">
        <h1>Error codes</h1>
        <p>
          A refusal's <code>code</code> says what is wrong, and stays what it is. Words in braces are filled
          in.
        </p>
      </header>
      <ProblemShape book={book} />
      {statuses.map((status) => (
        <section>
          <h2>
            <Status of={String(status)} /> {STATUS_CODES[status]}
          </h2>
          <ul class="fields codes">
            {book.refusals
              .filter((each) => each.status === status)
              .map((refusal) => (
                <Code of={refusal} />
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function ProblemShape({ book: { document, refusals } }: { readonly book: Book }) {
  const problem = document.components.schemas?.Problem;
  if (!problem) return null;
  return (
    <section class="entry" id="problem">
      <header>
        <h2>
          <a href="#problem">What a refusal looks like</a>
        </h2>
      </header>
      <div class="samples">
        <Panel title="A refusal" label="A refusal" text={pretty(refusals[0])} kind="json" />
      </div>
      <div class="terms">
        <Body of={shapeOf(document, problem)} side="answered" />
      </div>
    </section>
  );
}

function Code({ of: { code, title, detail } }: { readonly of: Refusal }) {
  return (
    <li id={code}>
      <p class="field">
        <a href={`#${code}`}>
          <code class="name">{code}</code>
        </a>{" "}
        <span class="type">{title}</span>
      </p>
      <p>{detail}</p>
      <p class="hint">
        <a href={`/errors/${encodeURIComponent(code)}`}>
          Page of <code>{code}</code>
        </a>
      </p>
    </li>
  );
}
