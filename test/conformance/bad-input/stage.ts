/** Where bad input is sent: a whole house with one resource and a payer who could well pay. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "vitest";
import { address } from "#kernel/bytes";
import {
  type Answer,
  type Merchant,
  newMerchant,
  newPayer,
  type Payer,
  type Resource,
  startWorld,
  type World,
} from "../../support/house.ts";
import { footprint } from "../ledger.ts";
import { signedBy, type Terms } from "../signed.ts";
import type { Body, Scene } from "./row.ts";

export interface Stage {
  readonly world: World;
  readonly merchant: Merchant;
  readonly resource: Resource;
  readonly rich: Payer;
}

export async function openStage(): Promise<Stage> {
  const world = await startWorld({ settings: { maxWaitMs: 5_000 } });
  const merchant = await newMerchant(world);
  const resource = await merchant.register();
  return { world, merchant, resource, rich: await newPayer(world.dev, 1_000_000n) };
}

export const baseOf = ({ id }: Resource) => `/x402/resources/${id}`;

const usdcRail = ({ accepts }: Resource) => {
  const rail = accepts.find(({ asset }) => asset === "USDC");
  if (!rail) throw new Error("the resource has no rail in USDC");
  return rail;
};

/** What a stranger may never read in an answer. */
const INSIDE = /\n\s+at |node_modules|\.ts\b|select |insert |drizzle|postgres/i;

export interface Refusal {
  readonly reason: string;
  readonly status?: number;
  readonly code?: string;
}

/** The documented refusal, in the words of both verbs; settle's may have a status of its own. */
export function expectRefused(
  verified: Answer,
  settled: Answer,
  { reason, status = 200, code }: Refusal,
): void {
  const problem = code === undefined ? {} : { code, status, title: expect.any(String) };
  expect(verified).toMatchObject({
    status,
    body: { ...problem, isValid: false, invalidReason: reason, invalidMessage: expect.stringMatching(/\w/) },
  });
  expect(settled).toMatchObject({
    status,
    body: {
      ...problem,
      success: false,
      errorReason: reason,
      errorMessage: expect.stringMatching(/\w/),
      transaction: "",
      network: expect.any(String),
    },
  });
  for (const { body, headers } of [verified, settled]) {
    expect(JSON.stringify(body)).not.toMatch(INSIDE);
    expect(headers.get("cache-control")).toBe("no-store, private");
    expect(headers.get("content-type")).toBe(
      code === undefined ? "application/json" : "application/problem+json",
    );
  }
}

/** What is done on a stage. It is asked for late, since tests are named before it opens. */
export function actsOn(stage: () => Stage) {
  async function chainTime(): Promise<bigint> {
    const block = await stage().world.dev.anvil.rpc<{ timestamp: string }>("eth_getBlockByNumber", [
      "latest",
      false,
    ]);
    return BigInt(block.timestamp);
  }

  async function sceneOf(payer = stage().rich, sold = stage().resource): Promise<Scene> {
    const rail = usdcRail(sold);
    const { assets } = stage().world.dev.contracts;
    return {
      resource: sold,
      payer,
      treasury: rail.payTo,
      usdc: rail.contract,
      eurc: assets.EURC,
      chainTime: await chainTime(),
    };
  }

  /** A payment without fault, unless `terms` bring one. */
  async function paymentOf(scene: Scene, terms: Partial<Terms> = {}): Promise<Body> {
    const { payer, treasury, usdc, chainTime: now } = scene;
    const domain = {
      name: "USD Coin",
      version: "2",
      chainId: 31_337,
      verifyingContract: stage().world.dev.usdc,
    };
    const validBefore = now + 300n;
    const payload = await signedBy(payer, { domain, to: treasury, value: 10_000n, validBefore, ...terms });
    const option = {
      scheme: "exact",
      network: "eip155:31337",
      amount: "10000",
      asset: usdc,
      payTo: treasury,
      maxTimeoutSeconds: 300,
      extra: { name: "USD Coin", version: "2" },
    };
    return {
      x402Version: 2,
      paymentPayload: { x402Version: 2, resource: { url: scene.resource.url }, accepted: option, payload },
      paymentRequirements: option,
    };
  }

  async function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(new URL(path, stage().world.baseUrl), {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: typeof body === "string" || body instanceof Buffer ? body : JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Rows, books and gas keys as they were. */
  async function traces() {
    const nonce = (tag: string) =>
      stage().world.dev.anvil.rpc("eth_getTransactionCount", [stage().world.dev.lane, tag]);
    return {
      ...(await footprint(stage().world.database)),
      nonce: await nonce("latest"),
      pending: await nonce("pending"),
      treasury: await stage().world.dev.chain.tokenBalance(
        stage().world.dev.usdc,
        address(stage().world.dev.contracts.treasury.address),
        "latest",
      ),
    };
  }

  /** Sends the same to verify and to settle, and wants the same no, and nothing to be left of it. */
  async function expectNo(base: string, body: unknown, no: Refusal, headers?: Record<string, string>) {
    const before = await traces();
    const verified = await send(`${base}/verify`, body, headers);
    const settled = await send(`${base}/settle`, body, headers);
    expectRefused(verified, settled, no);
    expect(await traces()).toEqual(before);
    return { verified, settled };
  }

  async function expectFine(base: string, body: unknown) {
    expect(await send(`${base}/verify`, body)).toMatchObject({ status: 200, body: { isValid: true } });
  }

  /** One request as bytes; resolves with all that came back. */
  async function raw(path: string, headers: readonly string[], body = "", host = "Host: x"): Promise<string> {
    const { hostname, port } = new URL(stage().world.baseUrl);
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (piece) => {
      answer += piece.toString("latin1");
    });
    socket.on("error", () => {});
    const lines = [`POST ${path} HTTP/1.1`, ...(host === "" ? [] : [host]), "Connection: close", ...headers];
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1");
    await once(socket, "close");
    return answer;
  }

  return { chainTime, sceneOf, paymentOf, send, traces, expectNo, expectFine, raw };
}
