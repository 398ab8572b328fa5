/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Book } from "../book.ts";
import { addressOf, type Chapter, ERRORS, kindOf, OVERVIEW } from "../chapters.ts";
import { guide } from "./guide.tsx";
import { Method } from "./prose.tsx";

interface NavigationProps {
  readonly book: Book;
  readonly label: string;
  /** The page that is looked at. */
  readonly here: string;
}

/** The way to every page, and on this one to everything that it has. */
export function Navigation({ book, label, here }: NavigationProps) {
  return (
    <nav aria-label={label}>
      <ul>
        <Entry slug={OVERVIEW} title="Overview" here={here}>
          <ul>
            {guide.map(({ anchor, title }) => (
              <li>
                <a href={`#${anchor}`}>{title}</a>
              </li>
            ))}
            <li>
              <a href="#calls">Every call</a>
            </li>
          </ul>
        </Entry>
        <Entry slug={ERRORS} title="Error codes" here={here} />
      </ul>
      <p class="group">Reference</p>
      <ul>
        {book.chapters.map((chapter) => (
          <Entry slug={chapter.slug} title={chapter.title} here={here}>
            <Contents of={chapter} />
          </Entry>
        ))}
      </ul>
      <p class="group">For programs</p>
      <ul>
        <li>
          <a href="/openapi.json">openapi.json</a>
        </li>
        <li>
          <a href="/llms.txt">llms.txt</a>
        </li>
      </ul>
    </nav>
  );
}

interface EntryProps {
  readonly slug: string;
  readonly title: string;
  readonly here: string;
  /** Shown where it is the page itself. */
  readonly children?: unknown;
}

function Entry({ slug, title, here, children }: EntryProps) {
  const isHere = slug === here;
  return (
    <li>
      <a href={addressOf(slug)} {...(isHere ? { "aria-current": "page" } : {})}>
        {title}
      </a>
      {isHere ? children : null}
    </li>
  );
}

function Contents({ of: { calls, families } }: { readonly of: Chapter }) {
  return (
    <ul>
      {calls.map(({ anchor, title, method }) => (
        <li>
          <a class="to-call" href={`#${anchor}`}>
            <span>{title}</span> <Method of={method} />
          </a>
        </li>
      ))}
      {families.map(({ anchor, types }) => (
        <li>
          <a href={`#${anchor}`}>{types.length > 1 ? `${kindOf(types)}.*` : types[0]}</a>
        </li>
      ))}
    </ul>
  );
}
