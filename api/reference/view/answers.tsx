/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Book } from "../book.ts";
import { addressOf, codesOf, ERRORS } from "../chapters.ts";
import { type Answer, type Document, follow, type Header, type Media } from "../document.ts";
import { shapeOf } from "../fields.ts";
import { Body, type Side } from "./fields.tsx";
import { Words } from "./prose.tsx";

type Answers = Readonly<Record<string, Answer>>;

/** What a call answers, by status; refusals with a code stand together at the end. */
export function AnswersOf({ book, of }: { readonly book: Book; readonly of: Answers }) {
  const all = Object.entries(of);
  const refusals = all.filter(([, answer]) => codesOf(answer) !== null);
  return (
    <>
      <h3>Answers</h3>
      {all
        .filter(([, answer]) => codesOf(answer) === null)
        .map(([status, answer]) => (
          <OneAnswer document={book.document} status={status} answer={answer} />
        ))}
      {refusals.length > 0 ? <Refusals document={book.document} of={refusals} /> : null}
    </>
  );
}

interface OneAnswerProps {
  readonly document: Document;
  readonly status: string;
  readonly answer: Answer;
}

function OneAnswer({ document, status, answer }: OneAnswerProps) {
  const { description = "", content = {}, headers = {} } = answer;
  const title = (
    <>
      <Status of={status} />{" "}
      <span>
        <Words text={description} />
      </span>
    </>
  );
  if (Object.keys({ ...content, ...headers }).length === 0) return <p class="answer">{title}</p>;
  return (
    <details class="answer">
      <summary>{title}</summary>
      {Object.entries(content).map(([type, media]) => (
        <MediaOf document={document} type={type} media={media} side="answered" />
      ))}
      <Headers document={document} of={headers} />
    </details>
  );
}

interface MediaProps {
  readonly document: Document;
  readonly type: string;
  readonly media: Media;
  readonly side: Side;
}

export function MediaOf({ document, type, media: { schema }, side }: MediaProps) {
  return (
    <div class="media">
      <p class="hint">
        <code>{type}</code>
      </p>
      {schema ? <Body of={shapeOf(document, schema)} side={side} /> : null}
    </div>
  );
}

function Headers({
  document,
  of,
}: {
  readonly document: Document;
  readonly of: NonNullable<Answer["headers"]>;
}) {
  const all = Object.entries(of);
  if (all.length === 0) return null;
  return (
    <details class="inside">
      <summary>Headers</summary>
      <ul class="fields">
        {all.map(([name, header]) => (
          <li>
            <p class="field">
              <code class="name">{name}</code>
            </p>
            <p>
              <Words text={follow<Header>(document, header).description ?? ""} />
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Refusals({
  document,
  of,
}: {
  readonly document: Document;
  readonly of: readonly (readonly [string, Answer])[];
}) {
  const codes = of.reduce((sum, [, answer]) => sum + (codesOf(answer)?.length ?? 0), 0);
  const kinds = new Set(of.map(([status]) => `${status.charAt(0)}xx`));
  return (
    <details class="answer">
      <summary>
        {[...kinds].map((kind) => (
          <Status of={kind} />
        ))}{" "}
        <span>Refusals, {codes} codes</span>
      </summary>
      <dl class="refusals">
        {of.map(([status, answer]) => (
          <>
            <dt>
              <Status of={status} />
            </dt>
            <dd>
              {codesOf(answer)?.map((code) => (
                <a href={`${addressOf(ERRORS)}#${code}`}>
                  <code>{code}</code>
                </a>
              ))}
            </dd>
          </>
        ))}
      </dl>
      <RefusalShapes document={document} of={of.map(([, answer]) => answer)} />
    </details>
  );
}

/** Each shape once: nearly all refusals have the same. */
function RefusalShapes({ document, of }: { readonly document: Document; readonly of: readonly Answer[] }) {
  const media = of.flatMap(({ content = {} }) => Object.entries(content));
  const kinds = new Map(media.map((each) => [JSON.stringify(each[1].schema), each]));
  const headers = Object.assign({}, ...of.map((answer) => answer.headers ?? {}));
  return (
    <>
      {[...kinds.values()].map(([type, { schema }]) => (
        <details class="inside">
          <summary>
            Members of <code>{type}</code>
          </summary>
          {schema ? <Body of={shapeOf(document, schema)} side="answered" /> : null}
        </details>
      ))}
      <Headers document={document} of={headers} />
    </>
  );
}

export function Status({ of }: { readonly of: string }) {
  return <span class={`status s${of.charAt(0)}`}>{of}</span>;
}
