import { describe, expect, it } from "vitest";
import type { PaymentRequest } from "#facilitator";
import { settle } from "../../../../facilitator/settlement/settle/settle.ts";
import type { Settling } from "../../../../facilitator/settlement/settle/settling.ts";

const network = "eip155:31337";

/** By what a settle is counted at the intake, which is full. */
async function countedBy(target: PaymentRequest["target"]): Promise<string[]> {
  const counted: string[] = [];
  const serve = async (payable: string) => {
    counted.push(payable);
    return null;
  };
  const settling = {
    intakes: new Map([[network, { serve }]]),
    engine: { meter: { count: () => {} } },
    telling: { enter: () => () => {} },
  };
  const request = { target, selection: { network } } as PaymentRequest;
  const answer = await settle(settling as unknown as Settling, request, {
    closed: new AbortController().signal,
  });
  expect(answer.outcome).toBe("unavailable");
  return counted;
}

describe("what a settle counts as at the intake", () => {
  it.each([
    ["https://api.m.example/weather", "https://api.m.example/weather"],
    ["https://api.m.example/weather?x=1", "https://api.m.example/weather"],
    ["HTTPS://API.M.example:443/a/../weather#2", "https://api.m.example/weather"],
    ["nothing:1", ""],
  ])("of %s is %s", async (url, key) => {
    expect(await countedBy({ by: "url", url })).toEqual([key]);
  });

  it("of an id is the id", async () => {
    expect(await countedBy({ by: "id", id: "x402r_1" })).toEqual(["x402r_1"]);
  });
});
