/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { Brand, Sheet } from "../view/layout.tsx";

interface SignInProps {
  readonly style: string;
  readonly next: string | undefined;
  /** A form was sent when the session had ended. */
  readonly hasEnded?: boolean;
  readonly problem: { readonly title: string; readonly detail: string } | null;
}

/** Where a secret key is exchanged for a session. */
export function SignInPage({ style, next, hasEnded, problem }: SignInProps) {
  return (
    <Sheet title="Sign in" style={style}>
      <body class="lone">
        <main class="card">
          <Brand />
          <h1>Sign in</h1>
          <p class="muted">With a secret key that may manage the merchant.</p>
          {hasEnded ? (
            <p class="warning" role="alert">
              Your session had ended, and nothing was done. Sign in, then send it again.
            </p>
          ) : null}
          <form method="post" action="/dashboard/sign-in">
            {next ? <input type="hidden" name="next" value={next} /> : null}
            <div class={problem ? "field wrong" : "field"}>
              <label for="key">Secret key</label>
              <input
                id="key"
                name="key"
                type="password"
                required
                autofocus
                autocomplete="current-password"
                spellcheck={false}
                placeholder="sk_…"
                {...(problem ? { "aria-invalid": "true", "aria-describedby": "key-error" } : {})}
              />
              {problem ? (
                <p class="error" id="key-error" role="alert">
                  <strong>{problem.title}.</strong> {problem.detail}
                </p>
              ) : null}
            </div>
            <button type="submit" class="primary wide">
              Sign in
            </button>
          </form>
          <p class="hint">
            The session may do what the key may do. It ends when you sign out, after twelve idle hours, and
            with the key.
          </p>
          <p class="hint">
            No key yet? Whoever runs this service makes a merchant's first one; you make the others yourself,
            under API keys.
          </p>
        </main>
      </body>
    </Sheet>
  );
}
