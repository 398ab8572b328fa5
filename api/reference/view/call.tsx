/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Book } from "../book.ts";
import { type Call, codesOf } from "../chapters.ts";
import { curlOf } from "../curl.ts";
import { type Document, type Operation, type Parameter, parametersOf } from "../document.ts";
import { type Field, shapeOf } from "../fields.ts";
import { pretty } from "../pretty.ts";
import { sampleOf } from "../sample.ts";
import { AnswersOf, MediaOf } from "./answers.tsx";
import { Fields } from "./fields.tsx";
import { Panel } from "./panel.tsx";
import { Method, Path, Prose } from "./prose.tsx";

/** A call: what it is for, how it is made, what it takes and answers. */
export function CallSection({ book, call }: { readonly book: Book; readonly call: Call }) {
  const { anchor, title, method, path, operation } = call;
  return (
    <section class="entry" id={anchor}>
      <header>
        <h2>
          <a href={`#${anchor}`}>{title}</a>
        </h2>
        <p class="route">
          <Method of={method} /> <Path of={path} />
        </p>
        <Credential of={operation} />
        <Prose text={operation.description} />
      </header>
      <div class="samples">
        <Panel title="Request" label={`Request: ${title}`} text={curlOf(book.document, call)} kind="sh" />
        <SampleAnswer document={book.document} call={call} />
      </div>
      <div class="terms">
        <Terms document={book.document} of={operation} />
        <AnswersOf book={book} of={operation.responses} />
      </div>
    </section>
  );
}

function Credential({ of }: { readonly of: Operation }) {
  const kinds = (of.security ?? []).flatMap((each) => Object.keys(each));
  const permission = of["x-permission"];
  return (
    <p class="credential">
      {of.deprecated ? <span class="old">deprecated</span> : null}
      {kinds.length === 0 ? "No key" : kinds.map(inWords).join(" or ")}
      {permission === undefined ? null : (
        <>
          {" "}
          with <code>{permission}</code>
        </>
      )}
    </p>
  );
}

/** `secret key` for `secretKey`. */
function inWords(scheme: string, i: number): string {
  const words = scheme.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return i === 0 ? words.charAt(0).toUpperCase() + words.slice(1) : words;
}

/** What it answers when all is well. */
function SampleAnswer({ document, call }: { readonly document: Document; readonly call: Call }) {
  const good = Object.entries(call.operation.responses).find(
    ([status, answer]) => status.startsWith("2") && codesOf(answer) === null,
  );
  const media = good?.[1].content?.["application/json"];
  if (!good || !media) return null;
  const text = pretty(sampleOf(document, media, "whole"));
  return <Panel title={`Answer ${good[0]}`} label={`Answer: ${call.title}`} text={text} kind="json" />;
}

/** What goes into a request. */
export function Terms({ document, of }: { readonly document: Document; readonly of: Operation }) {
  const all = parametersOf(document, of);
  const placed = (place: Parameter["in"]) =>
    all.filter((each) => each.in === place).map((each) => fieldOf(document, each));
  return (
    <>
      <Parameters title="In the path" of={placed("path")} />
      <Parameters title="In the query" of={placed("query")} />
      <RequestBody document={document} of={of} />
      <Parameters title="Headers" of={[...placed("header"), ...placed("cookie")]} />
    </>
  );
}

function Parameters({ title, of }: { readonly title: string; readonly of: readonly Field[] }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <Fields of={of} side="asked" />
    </>
  );
}

function fieldOf(
  document: Document,
  { name, required = false, description, schema = {}, example }: Parameter,
): Field {
  const shape = shapeOf(document, example === undefined ? schema : { example, ...schema });
  return { ...shape, name, isRequired: required, about: description ?? shape.about };
}

function RequestBody({
  document,
  of: { requestBody },
}: {
  readonly document: Document;
  readonly of: Operation;
}) {
  if (!requestBody) return null;
  return (
    <>
      <h3>Body {requestBody.required ? <span class="must">required</span> : null}</h3>
      {Object.entries(requestBody.content).map(([type, media]) => (
        <MediaOf document={document} type={type} media={media} side="asked" />
      ))}
    </>
  );
}
