/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Book } from "../book.ts";
import { addressOf, type Chapter } from "../chapters.ts";
import { guide } from "./guide.tsx";
import { Method, Path, Prose, Words } from "./prose.tsx";

/** The first page: what holds for all calls, and every call by its chapter. */
export function OverviewPage({ book }: { readonly book: Book }) {
  const { title, version, description = "" } = book.document.info;
  return (
    <>
      <header class="lead">
        <h1>{title} API</h1>
        <Prose text={description.split("\n\n")[0]} />
        <p class="hint">
          Version {version}, drawn from <a href="/openapi.json">openapi.json</a>, which describes the same to
          programs.
        </p>
      </header>
      {guide.map(({ anchor, title, Text, Sample }) => (
        <section class="entry" id={anchor}>
          <header>
            <h2>
              <a href={`#${anchor}`}>{title}</a>
            </h2>
            <Text book={book} />
          </header>
          {Sample ? (
            <div class="samples">
              <Sample book={book} />
            </div>
          ) : null}
        </section>
      ))}
      <section id="calls">
        <h2>
          <a href="#calls">Every call</a>
        </h2>
        <p class="find script-only">
          <label for="find">Find a call</label>
          <input id="find" type="search" autocomplete="off" placeholder="refund, POST, /v1/payouts" />
        </p>
        <p id="found" class="visually-hidden" role="status" />
        <div class="chapters">
          {book.chapters.map((chapter) => (
            <Contents of={chapter} />
          ))}
        </div>
      </section>
    </>
  );
}

function Contents({ of: { slug, title, about, calls } }: { readonly of: Chapter }) {
  return (
    <section class="card">
      <h3>
        <a href={addressOf(slug)}>{title}</a>
      </h3>
      <p>
        <Words text={about} />
      </p>
      <ul class="calls">
        {calls.map(({ anchor, method, path, title }) => (
          <li>
            <a href={`${addressOf(slug)}#${anchor}`}>
              <span>{title}</span>
              <span class="route">
                <Method of={method} /> <Path of={path} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
