/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import { CSRF } from "../form.ts";
import { nav } from "../nav.ts";
import { Problem } from "./problem.tsx";
import { useViewer } from "./visit.ts";

interface SheetProps {
  readonly title: string;
  readonly style: string;
  readonly children?: Child;
}

/** What every page has around it, signed in or not. It loads its style sheet and nothing else. */
export function Sheet({ title, style, children }: SheetProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Farebox`}</title>
        <link rel="stylesheet" href={style} />
        <link rel="icon" href="data:," />
      </head>
      {children}
    </html>
  );
}

/** The frame of a page for who is signed in: the way to every other page, and the way out. */
export function Layout({ title, style, children }: SheetProps) {
  const { merchantName, suspensionReason, refused } = useViewer();
  return (
    <Sheet title={title} style={style}>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="topbar">
          <Brand />
          <details class="menu">
            <summary>Menu</summary>
            <Navigation label="Menu" />
            <Account name={merchantName} />
          </details>
        </header>
        <div class="frame">
          <aside class="side">
            <Brand />
            <Navigation label="Dashboard" />
            <Account name={merchantName} />
          </aside>
          <main id="main">
            {suspensionReason === null ? null : <Suspension reason={suspensionReason} />}
            {refused?.code ? <Problem of={refused} /> : null}
            {children}
          </main>
        </div>
      </body>
    </Sheet>
  );
}

function Suspension({ reason }: { readonly reason: string }) {
  return (
    <p class="warning" role="status">
      <strong>This account is suspended.</strong> It asks for no payments and takes none, and pays nothing
      out. What it was paid can be read and refunded. The operator says why: {reason}
    </p>
  );
}

export function Brand() {
  return (
    <a class="brand" href="/dashboard">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M3 8a3 3 0 0 1 3-3h12a3 3 0 0 1 3 3v1.5a2.5 2.5 0 0 0 0 5V16a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3v-1.5a2.5 2.5 0 0 0 0-5z" />
        <path class="tear" d="M14.5 7.5v9" />
      </svg>
      <span>Farebox</span>
    </a>
  );
}

function Navigation({ label }: { readonly label: string }) {
  const { place, places } = useViewer();
  const groups = nav.map(({ group, entries }) => ({
    group,
    entries: entries.filter(([path]) => places.includes(path)),
  }));
  return (
    <nav aria-label={label}>
      {groups
        .filter(({ entries }) => entries.length > 0)
        .map(({ group, entries }) => (
          <>
            {group === null ? null : <p class="group">{group}</p>}
            <ul>
              {entries.map(([path, name]) => (
                <li>
                  <a
                    href={path === "" ? "/dashboard" : `/dashboard/${path}`}
                    {...(path === place ? { "aria-current": "page" } : {})}
                  >
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ))}
    </nav>
  );
}

function Account({ name }: { readonly name: string }) {
  const { keyId, csrfToken } = useViewer();
  return (
    <div class="account">
      <p>
        <strong>{name}</strong>
        <span class="muted">
          key <code>{keyId}</code>
        </span>
      </p>
      <form method="post" action="/dashboard/sign-out">
        <input type="hidden" name={CSRF} value={csrfToken} />
        <button type="submit" class="quiet">
          Sign out
        </button>
      </form>
    </div>
  );
}
