import type { Context } from "hono";
import { expect, it } from "vitest";
import { inTurn } from "../../../api/documents/in-turn.ts";

/** A request of a merchant's key, or of an address without one. */
function requestOf({
  merchantId,
  address = "192.0.2.1",
}: {
  merchantId?: string;
  address?: string;
}): Context {
  const merchant = merchantId === undefined ? undefined : { merchantId };
  return {
    get: () => merchant,
    var: { edge: { trustedProxyHops: 0 } },
    env: { incoming: { rawHeaders: [], socket: { remoteAddress: address } } },
    req: { header: () => undefined },
  } as unknown as Context;
}

/** A document that is drawn when it is told to be. */
function document(): { draw(): Promise<string>; end(): void } {
  let end = () => {};
  const drawn = new Promise<string>((resolve) => {
    end = () => resolve("drawn");
  });
  return { draw: () => drawn, end: () => end() };
}

it.each([
  ["merchant", { merchantId: "mer_1" }, { merchantId: "mer_2" }],
  ["address", {}, { address: "192.0.2.2" }],
])(
  "of one %s eight wait for their documents, and no more; others are not kept from theirs",
  async (_, who, another) => {
    const documents = Array.from({ length: 8 }, document);
    const answers = documents.map(({ draw }) => inTurn(requestOf(who), draw));
    await expect(inTurn(requestOf(who), document().draw)).rejects.toMatchObject({
      code: "rate_limited",
      context: { retryAfterSeconds: 2 },
    });
    expect(await inTurn(requestOf(another), async () => "theirs")).toBe("theirs");
    documents[0]?.end();
    await answers[0];
    expect(await inTurn(requestOf(who), async () => "the next")).toBe("the next");
    for (const { end } of documents) end();
    expect(await Promise.all(answers)).toEqual(Array(8).fill("drawn"));
  },
);

it("one that could not be drawn is waited for no more", async () => {
  const fails = () => inTurn(requestOf({}), () => Promise.reject(new Error("no ink")));
  for (let n = 0; n < 20; n += 1) await expect(fails()).rejects.toThrow("no ink");
});
