/** What the lists under /v1 may be asked for. */
import { expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { caller, newCaller } from "../caller.ts";
import { world } from "../world.ts";

const database = sharedDatabase();

interface Parameter {
  readonly in: string;
  readonly name: string;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}
const isCursor = ({ in: place, name }: Parameter) => place === "query" && name === "cursor";

/** Paged, or short enough to be told whole. */
function isList({ parameters = [], responses }: Operation): boolean {
  const { schema } = responses[200]?.content?.["application/json"] ?? {};
  return parameters.some(isCursor) || (schema !== undefined && "items" in schema);
}

it("a filter that a list does not know is refused by name: it would list everything", async () => {
  const { app } = world({ db: database.db, rateLimits: "off" });
  const call = caller(app, await newCaller(database.db));
  const { body } = await call("GET", "/openapi.json");
  const lists = Object.entries(body.paths as Record<string, { readonly get?: Operation }>)
    .filter(([path, { get }]) => path.startsWith("/v1/") && get && isList(get))
    .map(([path]) => path.replace("{id}", "whe_01K2C0Z0000000000000000000"));
  expect(lists.length).toBeGreaterThan(20);
  const answers = await Promise.all(lists.map((path) => call("GET", `${path}?statsu=paid`)));
  const refused = { pointer: "/query/statsu", code: "unknown_key", detail: "This key is not known here." };
  expect(answers.map(({ status, body: { errors } }, i) => [lists[i], status, errors])).toEqual(
    lists.map((path) => [path, 400, [refused]]),
  );
  expect((await call("GET", "/v1/payments?limit=1&state=settled")).status).toBe(200);
});
