/** Whose allowance a payment uses up: nobody has checked its signature yet, so whatever it says may be made up. */
import { describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { from } from "../caller.ts";
import { fakeFacilitator, offer, payer, post, v2Body, world } from "../world.ts";

type App = ReturnType<typeof world>["app"];

const stranger = "192.0.2.1";
const victim = "192.0.2.2";
const policyOf = (response: Response) => response.headers.get("ratelimit-policy");
const refusedBy = (answers: readonly Response[]) =>
  new Set(answers.filter(({ status }) => status === 429).map(policyOf));

function bodyOf(url: string, authorized: string = payer) {
  const { paymentPayload } = v2Body;
  const { payload } = paymentPayload;
  const authorization = { ...payload.authorization, from: authorized };
  return {
    ...v2Body,
    paymentPayload: { ...paymentPayload, payload: { ...payload, authorization }, resource: { url } },
  };
}
const send = async (app: App, at: string, body: object, path = "/x402/settle") =>
  app.request(path, post(body), from(at));

describe("a payer", () => {
  it.each(["/x402/settle", "/x402/verify"])(
    "is not refused at %s after a stranger's flood in its name",
    async (path) => {
      const { app } = world({ rateLimits: "on" });
      const pay = (at: string, what: number) =>
        send(app, at, bodyOf(`https://api.m.example/${what}`, payer.toUpperCase().replace("X", "x")), path);
      // 50 a second and 200 more at once; a slow machine takes more than a second for all of these.
      const flood = await Promise.all(Array.from({ length: 480 }, (_, i) => pay(stranger, i)));
      expect(refusedBy(flood)).toEqual(new Set(['"payer";q=50;w=1']));
      const own = await pay(victim, 0);
      expect([own.status, policyOf(own), own.headers.get("ratelimit")]).toEqual([
        200,
        '"payer";q=50;w=1',
        expect.stringMatching(/^"payer";r=49;/),
      ]);
    },
  );

  it("is not refused at an agent URL either", async () => {
    const facilitator = fakeFacilitator({
      offer: async (target) => {
        const id = target.by === "id" ? target.id : "";
        return { ...offer, payable: { ...offer.payable, id } };
      },
    });
    const { app } = world({ facilitator, rateLimits: "on" });
    const payload = Buffer.from(JSON.stringify(v2Body.paymentPayload)).toString("base64");
    const headers = { "payment-signature": payload };
    const pay = async (at: string, what: number) =>
      app.request(`/x402/payables/pi_01K2C0Z000000000000000000${what}`, { headers }, from(at, headers));
    const flood = await Promise.all(Array.from({ length: 480 }, (_, i) => pay(stranger, i % 10)));
    expect(refusedBy(flood)).toEqual(new Set(['"payer";q=50;w=1']));
    expect((await pay(victim, 0)).status).toBe(200);
  });
});

describe("a payable that is named by URL", () => {
  /** So many calls from many addresses in the name of many payers. */
  const flood = async (app: App, urlOf: (i: number) => string) =>
    Promise.all(
      Array.from({ length: 900 }, (_, i) => {
        const authorized = address(`0x${i.toString(16).padStart(40, "0")}`);
        return send(app, `192.0.2.${i % 10}`, bodyOf(urlOf(i), authorized));
      }),
    );

  it.each([
    ["query", (i: number) => `https://api.m.example/weather?x=${i}`],
    ["fragment", (i: number) => `https://api.m.example/weather#${i}`],
    ["writing", (i: number) => `https://api.m.example/${i}/../weather`],
    ["nonsense, where nothing is named,", (i: number) => `nothing:${i}`],
  ])("has one allowance, whatever the %s", async (_name, urlOf) => {
    const { app } = world({ rateLimits: "on" });
    expect(refusedBy(await flood(app, urlOf))).toEqual(new Set(['"payable";q=200;w=1']));
  });

  it("has its own", async () => {
    const { app } = world({ rateLimits: "on" });
    expect(refusedBy(await flood(app, (i) => `https://api.m.example/${i}?x=1`))).toEqual(new Set());
  });
});
