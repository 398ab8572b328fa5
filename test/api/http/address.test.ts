/** Where a request is said to come from, and whose word on it is taken. */
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { callerAddress, clientAddress } from "../../../api/http/limit.ts";
import { from } from "../caller.ts";

const PEER = "192.0.2.9";

/** What is believed of a request that this peer brought with these words of proxies. */
async function told(
  forwarded: string | undefined,
  { hops = 0, peer = PEER }: { readonly hops?: number; readonly peer?: string } = {},
) {
  const edge = { trustedProxyHops: hops };
  const app = new Hono().get("/", (c) => c.json([callerAddress(c, edge), clientAddress(c, edge)]));
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const answer = await app.request("/", { headers }, from(peer, headers));
  const [caller, counted] = (await answer.json()) as readonly string[];
  return { caller, counted };
}

describe("the address of a caller", () => {
  it("is the peer's where no proxy is trusted, whatever it says", async () => {
    expect((await told("203.0.113.7")).caller).toBe(PEER);
    expect((await told(undefined)).caller).toBe(PEER);
  });

  it("is what the trusted proxies wrote, counted from the nearest; what stands before is the caller's own", async () => {
    const said = "10.0.0.1, 198.51.100.1 ,203.0.113.7";
    expect((await told(said, { hops: 1 })).caller).toBe("203.0.113.7");
    expect((await told(said, { hops: 2 })).caller).toBe("198.51.100.1");
    expect((await told("203.0.113.7", { hops: 1 })).caller).toBe("203.0.113.7");
  });

  it("is the peer's where fewer proxies spoke than are trusted, or one said nothing", async () => {
    for (const said of [undefined, "", "203.0.113.7, "])
      expect((await told(said, { hops: 1 })).caller).toBe(PEER);
    expect((await told("203.0.113.7", { hops: 2 })).caller).toBe(PEER);
  });

  it.each([
    ["203.0.113.7:4711", "203.0.113.7", "203.0.113.7"],
    ["[2001:db8::1]:4711", "2001:db8::1", "2001:db8:0:0::/64"],
    ["[2001:db8::1]", "2001:db8::1", "2001:db8:0:0::/64"],
    ["[::ffff:203.0.113.7]:4711", "::ffff:203.0.113.7", "203.0.113.7"],
    // without brackets the end may be a part of the address
    ["2001:db8::4711", "2001:db8::4711", "2001:db8:0:0::/64"],
  ])("is written by some proxies with its port or in brackets: %s is %s", async (said, caller, counted) => {
    expect(await told(`198.51.100.1:80, ${said}`, { hops: 1 })).toEqual({ caller, counted });
  });
});

describe("a caller is counted", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:db8::6", "2001:db8:0:0::/64"],
    ["2001:db8::2:3:4:5:6", "2001:db8:0:2::/64"],
    ["2001:db8::", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("of %s as %s", async (peer, as) => {
    expect((await told(undefined, { peer })).counted).toBe(as);
    expect((await told(peer, { hops: 1 })).counted).toBe(as);
  });
});
