import { OpenAPIHono, z } from "@hono/zod-openapi";
import fc from "fast-check";
import type { Context } from "hono";
import { describe, expect, it } from "vitest";
import type { Edge, MerchantCtx } from "../../../api/http/context.ts";
import { PageQuery, pageOf, readPage } from "../../../api/http/page.ts";
import { onError } from "../../../api/http/problem.ts";
import { requestContext } from "../../../api/http/request-id.ts";
import { baseUrl, clock, newId, recordingLog } from "../world.ts";

const cursorKey = new Uint8Array(32).fill(7);

const ThingQuery = PageQuery.extend({ kind: z.string().optional() });

/** A list of `size` items, newest first, filtered by the query `kind`. */
function listing(size: number, { merchantId = "mer_a", key = cursorKey } = {}) {
  const items = Array.from({ length: size }, (_, i) => ({ id: `id_${String(size - i).padStart(4, "0")}` }));
  const app = new OpenAPIHono();
  app.use(requestContext({ baseUrl, clock, newId, log: recordingLog(), cursorKey: key } as unknown as Edge));
  app.onError(onError);
  const handler = (c: Context) => {
    c.set("merchant", { merchantId } as MerchantCtx);
    const filter = { kind: c.req.query("kind") };
    const page = readPage(c, ThingQuery.parse(c.req.query()), filter);
    const found = items.filter(({ id }) => page.after === null || id < page.after).slice(0, page.limit + 1);
    return c.json(pageOf(c, page, found, filter));
  };
  app.get("/v1/things", handler);
  app.get("/v1/others", handler);
  return async (path: string) => {
    const response = await app.request(path);
    const link = /^<https:\/\/pay\.example(\/.+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    return {
      status: response.status,
      cursor: response.headers.get("next-cursor"),
      next: link ?? null,
      body: (await response.json()) as readonly { readonly id: string }[] & { readonly code: string },
    };
  };
}

describe("a list", () => {
  it("is walked by Link to its end, each item once and in order, whatever its length and the page's", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 12 }),
        async (size, limit) => {
          const ask = listing(size);
          const seen: string[] = [];
          for (let next: string | null = `/v1/things?limit=${limit}`; next !== null; ) {
            const page: Awaited<ReturnType<typeof ask>> = await ask(next);
            expect(page.body.length).toBeLessThanOrEqual(limit);
            expect(page.cursor === null).toBe(page.next === null);
            seen.push(...page.body.map(({ id }) => id));
            next = page.next;
          }
          expect(seen).toHaveLength(size);
          expect(seen).toEqual([...seen].sort().reverse());
        },
      ),
      { numRuns: 40 },
    );
  });

  it("of a page that ends with the list names no next one", async () => {
    const { next, cursor, body } = await listing(3)("/v1/things?limit=3");
    expect([next, cursor, body.length]).toEqual([null, null, 3]);
  });

  it("has 100 items a page when nothing is said, and keeps the filter in its link", async () => {
    const { body, next } = await listing(150)("/v1/things?kind=a%26b");
    expect(body).toHaveLength(100);
    expect(new URL(next ?? "", baseUrl).searchParams.get("kind")).toBe("a&b");
  });
});

describe("400 invalid_cursor", () => {
  const first = async (path = "/v1/things?limit=1&kind=a") => (await listing(3)(path)).cursor ?? "";

  it("for another filter, another list, another merchant, another deployment", async () => {
    const cursor = await first();
    expect((await listing(3)(`/v1/things?kind=a&cursor=${cursor}`)).status).toBe(200);
    expect((await listing(3)(`/v1/things?limit=2&kind=a&cursor=${cursor}`)).status).toBe(200);
    for (const answer of [
      await listing(3)(`/v1/things?kind=b&cursor=${cursor}`),
      await listing(3)(`/v1/things?cursor=${cursor}`),
      await listing(3)(`/v1/others?kind=a&cursor=${cursor}`),
      await listing(3, { merchantId: "mer_b" })(`/v1/things?kind=a&cursor=${cursor}`),
      await listing(3, { key: new Uint8Array(32) })(`/v1/things?kind=a&cursor=${cursor}`),
    ])
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_cursor"]);
  });

  it("for one that was changed anywhere", async () => {
    const cursor = await first();
    await fc.assert(
      fc.asyncProperty(fc.nat(cursor.length - 1), fc.constantFrom("A", "z", "-", ""), async (at, other) => {
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
        const isSame = Buffer.from(changed, "base64url").equals(Buffer.from(cursor, "base64url"));
        const { status } = await listing(3)(`/v1/things?kind=a&cursor=${changed}`);
        expect([changed, status]).toEqual([changed, isSame || changed === "" ? 200 : 400]);
      }),
    );
  });

  it.each(["nonsense", "%00", "aWQ", "aWQg", "IA", "💥"])("for %s", async (cursor) => {
    expect((await listing(3)(`/v1/things?kind=a&cursor=${cursor}`)).body.code).toBe("invalid_cursor");
  });
});
