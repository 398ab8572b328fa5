/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { Book } from "../book.ts";
import { addressOf, ERRORS } from "../chapters.ts";
import { pretty } from "../pretty.ts";
import { Panel } from "./panel.tsx";
import { Words } from "./prose.tsx";

interface Section {
  readonly anchor: string;
  readonly title: string;
  readonly Text: (props: { readonly book: Book }) => Child;
  readonly Sample?: (props: { readonly book: Book }) => Child;
}

/** What holds for every call, before the calls. */
export const guide: readonly Section[] = [
  {
    anchor: "base-url",
    title: "Base URL",
    Text: () => (
      <>
        <p>
          Everything is below one address. Paths under <code>/v1</code> are the merchant API and ask for a
          key; those under <code>/x402</code> and the hosted pages are for whoever pays.
        </p>
        <p>
          Bodies are JSON. Amounts are decimal strings in major units, with their asset, and never numbers.
        </p>
      </>
    ),
    Sample: ({ book }) => <Panel title="Base URL" label="Base URL" text={book.baseUrl} kind="sh" />,
  },
  {
    anchor: "authentication",
    title: "Authentication",
    Text: ({ book }) => (
      <>
        <p>
          A key goes into the header <code>Authorization</code> as a bearer token. There are two kinds:
        </p>
        <ul class="bullets">
          {Object.values(book.document.components.securitySchemes ?? {}).map(({ description = "" }) => (
            <li>
              <Words text={description} />
            </li>
          ))}
        </ul>
        <p>
          A secret key has permissions, and each call names the one that it asks for. Without it the answer is{" "}
          <ErrorCode code="permission_denied" />; without a good key, <ErrorCode code="unauthenticated" />.
        </p>
      </>
    ),
    Sample: ({ book }) => (
      <Panel
        title="A call with a secret key"
        label="A call with a secret key"
        text={`curl ${book.baseUrl}/v1/merchant \\\n  -H "Authorization: Bearer $SECRET_KEY"`}
        kind="sh"
      />
    ),
  },
  {
    anchor: "idempotency",
    title: "Idempotency",
    Text: () => (
      <>
        <p>
          Writes that make something or move money take an <code>Idempotency-Key</code>, a name of yours for
          the one thing that you want done. Keep it when you repeat a request whose answer you did not see: it
          is done once, and the repetition gets the first answer again, with{" "}
          <code>Idempotent-Replayed: true</code>.
        </p>
        <p>
          Keys are kept for 30 days. Another request with the same key is{" "}
          <ErrorCode code="idempotency_key_reused" />; one that comes while the first is at work may be{" "}
          <ErrorCode code="idempotency_in_progress" />.
        </p>
      </>
    ),
    Sample: () => (
      <Panel title="Header" label="Idempotency header" text="Idempotency-Key: order-1042" kind="sh" />
    ),
  },
  {
    anchor: "errors",
    title: "Errors",
    Text: () => (
      <>
        <p>
          A refusal is problem details (RFC 9457, <code>application/problem+json</code>). Its{" "}
          <code>code</code> is the contract: decide by it, never by the words. <code>errors[]</code> points to
          what is wrong in the request, and <code>requestId</code> names the request when you ask us about it.
        </p>
        <p>
          An answer of 5xx is an outage of ours and never a verdict: repeat the identical request.{" "}
          <a href={addressOf(ERRORS)}>All error codes</a>
        </p>
      </>
    ),
    Sample: ({ book }) => {
      const [problem] = book.refusals.filter(({ code }) => code === "not_found");
      return problem ? (
        <Panel title="A refusal" label="A refusal" text={pretty(problem)} kind="json" />
      ) : null;
    },
  },
  {
    anchor: "paging",
    title: "Paging",
    Text: () => (
      <p>
        Lists come in pages. Where there is more, the header <code>Next-Cursor</code> has what to send as{" "}
        <code>cursor</code>, and <code>Link</code> the whole address with <code>rel="next"</code>. A cursor
        belongs to the filters that it was given for.
      </p>
    ),
    Sample: ({ book }) => (
      <Panel
        title="The next page"
        label="The next page"
        text={`curl "${book.baseUrl}/v1/payments?limit=50&cursor=$NEXT_CURSOR" \\\n  -H "Authorization: Bearer $SECRET_KEY"`}
        kind="sh"
      />
    ),
  },
  {
    anchor: "versions",
    title: "Versions",
    Text: () => (
      <p>
        <code>/v1</code> has revisions, named by their dates. <code>Service-Version</code> pins the one that
        you were written for; without it you are served the current one. Every answer under <code>/v1</code>{" "}
        names its revision in the same header. New members may come at any time and need no revision: pass
        over those that you do not know.
      </p>
    ),
    Sample: () => (
      <Panel title="Header" label="Version header" text="Service-Version: 2026-08-11" kind="sh" />
    ),
  },
  {
    anchor: "limits",
    title: "Rate limits",
    Text: () => (
      <p>
        <code>RateLimit-Policy</code> says what is counted and how much of it in <code>w</code> seconds,{" "}
        <code>RateLimit</code> how much is left. Beyond it the answer is <ErrorCode code="rate_limited" />,
        with the seconds to wait in <code>Retry-After</code>. What you newly list counts by itself: 100 at
        once, then 6 a minute.
      </p>
    ),
  },
  {
    anchor: "agents",
    title: "Agents",
    Text: ({ book }) => (
      <p>
        <Words text={book.document.info["x-guidance"] ?? ""} />
      </p>
    ),
  },
];

function ErrorCode({ code }: { readonly code: string }) {
  return (
    <a href={`${addressOf(ERRORS)}#${code}`}>
      <code>{code}</code>
    </a>
  );
}
