/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Book } from "../book.ts";
import { type Chapter, type Family, kindOf } from "../chapters.ts";
import type { Document } from "../document.ts";
import { pretty } from "../pretty.ts";
import { sampleOf } from "../sample.ts";
import { AnswersOf } from "./answers.tsx";
import { CallSection, Terms } from "./call.tsx";
import { Panel } from "./panel.tsx";
import { Prose } from "./prose.tsx";

/** All that has one tag: its calls, and the events that are told of it. */
export function ChapterPage({ book, chapter }: { readonly book: Book; readonly chapter: Chapter }) {
  const { title, about, calls, families } = chapter;
  return (
    <>
      <header class="lead">
        <h1>{title}</h1>
        <Prose text={about} />
      </header>
      {calls.map((call) => (
        <CallSection book={book} call={call} />
      ))}
      {families.map((family) => (
        <FamilySection book={book} family={family} />
      ))}
    </>
  );
}

/** Events that differ in their type alone, and what is sent of each. */
function FamilySection({ book, family }: { readonly book: Book; readonly family: Family }) {
  const { anchor, types, operation } = family;
  return (
    <section class="entry" id={anchor}>
      <header>
        <h2>
          <a href={`#${anchor}`}>
            Webhook: <code>{types.length > 1 ? `${kindOf(types)}.*` : types[0]}</code>
          </a>
        </h2>
        <Prose text={operation.description} />
        <ul class="values">
          {types.map((type) => (
            <li id={type}>
              <code>{type}</code>
            </li>
          ))}
        </ul>
      </header>
      <div class="samples">
        <SampleEvent document={book.document} family={family} />
      </div>
      <div class="terms">
        <Terms document={book.document} of={operation} />
        <AnswersOf book={book} of={operation.responses} />
      </div>
    </section>
  );
}

function SampleEvent({ document, family }: { readonly document: Document; readonly family: Family }) {
  const media = family.operation.requestBody?.content["application/json"];
  if (!media) return null;
  const text = pretty(sampleOf(document, media, "whole"));
  return <Panel title="What is sent" label={`What is sent: ${family.types[0]}`} text={text} kind="json" />;
}
