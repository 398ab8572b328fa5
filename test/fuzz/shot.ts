/** One request, as it will go over the wire. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { nastyText } from "./mutate.ts";

export interface Shot {
  /** The route as the document names it. */
  readonly route: string;
  readonly method: string;
  /** Path and query; `{pi:7}` is filled in with an id of that prefix that an earlier answer gave. */
  readonly path: string;
  /** Names and values in turn, so that one name may come twice. */
  readonly headers: readonly string[];
  readonly body: string | Buffer | null;
}

/** Who asks. */
export interface Keys {
  readonly secret: string;
  readonly publishable: string;
  /** Of another merchant. */
  readonly foreign: string;
}

export const bearer = (key: string) => ["authorization", `Bearer ${key}`];

export function authorizations(keys: Keys): fc.Arbitrary<readonly string[]> {
  const odd = nastyText.filter(isHeaderText);
  return fc.oneof(
    { weight: 14, arbitrary: fc.constant(bearer(keys.secret)) },
    { weight: 2, arbitrary: fc.constant(bearer(keys.publishable)) },
    { weight: 2, arbitrary: fc.constant(bearer(keys.foreign)) },
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant([...bearer(keys.secret), ...bearer(keys.foreign)]) },
    { weight: 1, arbitrary: odd.map((text) => ["authorization", text]) },
    { weight: 1, arbitrary: odd.map((text) => bearer(`${keys.secret}${text}`)) },
  );
}

export const idempotencyKeys: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 16, arbitrary: fc.uuid().map((key) => ["idempotency-key", key]) },
  { weight: 2, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant(["idempotency-key", "the same for all"]) },
  { weight: 1, arbitrary: fc.constant(["idempotency-key", "one", "Idempotency-Key", "two"]) },
  { weight: 1, arbitrary: nastyText.filter(isHeaderText).map((text) => ["idempotency-key", text]) },
);

const oddHeaders: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 24, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("accept", "accept-language", "origin", "cookie", "service-version", "if-none-match")
      .chain((name) => nastyText.filter(isHeaderText).map((text) => [name, text])),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ["accept", "text/html"],
      ["accept", "application/pdf"],
      ["service-version", "1999-01-01"],
      ["last-event-id", "-1"],
      ["x-forwarded-for", "127.0.0.1, ::1"],
      ["x-http-method-override", "DELETE"],
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("payment-signature", "x-payment")
      .chain((name) => nastyText.map((text) => [name, Buffer.from(text).toString("base64").slice(0, 8_000)])),
  },
);

/** What a header line may hold; Node's parser answers for the rest, and the raw cases try it. */
function isHeaderText(text: string): boolean {
  return text.length < 2_000 && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Mostly the type that is asked for, and a body as it is; sometimes another, or packed. */
export function dressed(
  shots: fc.Arbitrary<Omit<Shot, "headers"> & { readonly type: string | null }>,
  auth: fc.Arbitrary<readonly string[]>,
  idempotency: fc.Arbitrary<readonly string[]>,
): fc.Arbitrary<Shot> {
  const types = fc.oneof(
    { weight: 30, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "text/plain",
        "application/xml",
        "application/json; charset=utf-16",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "",
      ),
    },
  );
  const packing = fc.constantFrom(...Array<string>(40).fill("none"), "gzip", "false gzip", "br");
  return fc
    .tuple(shots, auth, idempotency, oddHeaders, types, packing)
    .map(([{ type, ...shot }, who, key, odd, otherType, packed]) => {
      const headers = [...who, ...key, ...odd];
      if (shot.body === null || type === null) return { ...shot, headers };
      headers.push("content-type", otherType ?? type);
      if (packed === "none") return { ...shot, headers };
      headers.push("content-encoding", packed.split(" ").at(-1) ?? "");
      return { ...shot, headers, body: packed === "gzip" ? gzipSync(shot.body) : shot.body };
    });
}
