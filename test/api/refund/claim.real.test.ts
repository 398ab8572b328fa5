/** A payer says where a refund goes, by the signature of the wallet that paid. */
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { type Address, checksum, type Hex } from "#kernel/bytes";
import { systemRandom } from "#kernel/system";
import { noncesOf } from "../../../api/refund/siwe.ts";
import { claimMessage, claimRefunds } from "../../../api/refund/verbs/claim.ts";
import { loadArtifacts } from "../../../contracts/index.ts";
import { newKey } from "../../support/authorization.ts";
import { newPayer, type Payer, sharedWorld } from "../../support/house.ts";
import { movableClock, newSeller, type Seller, sendTo } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { held, purse, read, refund, untilSucceeded, usdc } from "./paid.ts";

const clock = movableClock();
const world = sharedWorld({ clock });
let seller: Seller;

/** A wallet that lends itself a contract's code (EIP-7702): nobody can tell it from an exchange's, and its key signs. */
const DELEGATED = `0xef0100${"00".repeat(20)}`;
const setCode = (at: Address, code: string) => world.dev.anvil.rpc("anvil_setCode", [at, code]);

/** A payment of 10 dollars that is final, and whose refund waits for an address. */
async function waiting(payer?: Payer, asked: unknown = {}) {
  seller = await newSeller(world);
  const { paymentIntent, deposit } = await seller.asked({ payment: { chain: "local", asset: "USDC" } });
  const { id } = paymentIntent;
  const from = payer ?? (await newPayer(world.dev, 0n));
  await sendTo(world, deposit.address, 10_000_000n, { payer: from });
  await seller.reaches(id, "settled");
  await expectAtRest(world);
  if (!payer) await setCode(from.address, DELEGATED);
  const made = await refund(seller, id, asked);
  expect(made.body).toMatchObject({ state: "requires-destination", destination: null });
  return { id: id as string, payer: from, refund: made.body.id as string };
}

const pageOf = (id: string) => `${world.baseUrl}/checkout/${id}/refund`;
const asPage = async (path: string) => {
  const response = await fetch(path, { headers: { Accept: "text/html" } });
  return { status: response.status, text: await response.text() };
};
async function messageFor(id: string, destination: string): Promise<{ message: string; nonce: string }> {
  const response = await fetch(`${pageOf(id)}/message?destination=${destination}`);
  expect(response.status).toBe(200);
  return (await response.json()) as { message: string; nonce: string };
}
const sign = (payer: Pick<Payer, "key">, message: string) =>
  privateKeyToAccount(payer.key).signMessage({ message });

/** Sends the form; null when it was taken, else the word of the problem. */
async function send(id: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(pageOf(id), {
    method: "POST",
    redirect: "manual",
    headers,
    body: new URLSearchParams(fields),
  });
  if (response.status !== 303) return response.status;
  const leadsTo = new URL(response.headers.get("location") ?? "", world.baseUrl);
  expect(leadsTo.pathname).toBe(`/checkout/${id}/refund`);
  return leadsTo.searchParams.get("problem");
}

/** A signed claim for a new address, ready to send. */
async function claimOf(id: string, payer: Payer, over: { signer?: Payer; account?: Address } = {}) {
  const destination = checksum(newKey().address);
  const { message, nonce } = await messageFor(id, destination);
  const signature = await sign(over.signer ?? payer, message);
  return { account: over.account ?? payer.address, destination, nonce, signature };
}

const untouched = async (id: string) => {
  expect(await read(seller, id)).toMatchObject({ state: "requires-destination", destination: null });
  expect(await ledgerOf(world.database, id)).toEqual([]);
};

describe("the wallet that paid", () => {
  it("names an address, and the money goes there", async () => {
    const { id, payer, refund: refundId } = await waiting();
    expect((await asPage(pageOf(id))).text).toContain(checksum(payer.address));
    expect((await asPage(`${world.baseUrl}/checkout/${id}`)).text).toContain("Claim your refund");
    const claim = await claimOf(id, payer);
    const { message } = await messageFor(id, claim.destination);
    expect(message).toContain(`Send the refund of 10.00 USDC on local to ${claim.destination}.`);
    expect(message).toContain(`${new URL(world.baseUrl).host} wants you to sign in`);
    expect(await send(id, claim)).toBeNull();
    expect(await read(seller, refundId)).toMatchObject({ destination: claim.destination });
    await untilSucceeded(world, seller, refundId);
    expect(await held(world, claim.destination)).toBe(10_000_000n);
    expect(await ledgerOf(world.database, refundId)).toEqual([
      "single net merchant → merchant 9950000",
      "single fee fees → merchant 50000",
      "pending out merchant → treasury 10000000",
      "post out merchant → treasury 10000000",
    ]);
    expect(await purse(seller)).toEqual(["0.000000", "0.000000", "0.000000"]);
    const [kept] = await world.database.query<{ message: string; signature: string }>(
      "SELECT message, signature FROM refund_claim WHERE nonce = $1",
      [claim.nonce],
    );
    expect(kept).toMatchObject({ signature: claim.signature });
    expect(kept?.message).toContain(claim.nonce);
    // The page tells what became of it, and takes no other address.
    const { text } = await asPage(pageOf(id));
    expect(text).toContain("10.00 USDC was paid back");
    expect(text).not.toContain("wallet-actions");
    expect(await send(id, claim)).toBe("refund_nothing");
    expect(await held(world, claim.destination)).toBe(10_000_000n);
  });

  it("that is a contract answers for itself, and nobody's key does", async () => {
    const owner = await newPayer(world.dev, 0n);
    const { wallet1271 } = await loadArtifacts();
    const wallet = await world.dev.deploy(wallet1271, [checksum(owner.address)]);
    const { id, payer, refund: refundId } = await waiting({ address: wallet, key: owner.key });
    const stranger = await newPayer(world.dev, 0n);
    expect(await send(id, await claimOf(id, payer, { signer: stranger }))).toBe("refund_signature");
    await untouched(refundId);
    const claim = await claimOf(id, payer);
    expect(await send(id, claim)).toBeNull();
    await untilSucceeded(world, seller, refundId);
    expect(await held(world, claim.destination)).toBe(10_000_000n);
  });

  it("that has become a contract speaks by it alone: what its old key says counts for nothing", async () => {
    const { id, payer, refund: refundId } = await waiting();
    await setCode(payer.address, "0x00");
    expect(await send(id, await claimOf(id, payer))).toBe("refund_signature");
    await untouched(refundId);
  });

  it("ten claims at once for ten addresses: one is taken", async () => {
    const { id, payer, refund: refundId } = await waiting();
    const claims = await Promise.all(Array.from({ length: 10 }, () => claimOf(id, payer)));
    const told = await Promise.all(claims.map((claim) => send(id, claim)));
    expect(told.filter((problem) => problem === null)).toHaveLength(1);
    expect(new Set(told)).toEqual(new Set([null, "refund_nothing"]));
    const taken = claims[told.indexOf(null)]?.destination;
    expect((await read(seller, refundId)).destination).toBe(taken);
    expect(await ledgerOf(world.database, refundId)).toEqual(
      expect.arrayContaining(["single net merchant → merchant 9950000"]),
    );
  });
});

describe("what is no proof", () => {
  it("another wallet, whoever it says that it is; and an address that was not signed for", async () => {
    const { id, payer, refund: refundId } = await waiting();
    const stranger = await newPayer(world.dev, 0n);
    const claim = await claimOf(id, payer);
    const its = await claimOf(id, payer, { signer: stranger });
    expect(await send(id, { ...its, account: stranger.address })).toBe("refund_wallet");
    expect(await send(id, its)).toBe("refund_signature");
    expect(await send(id, { ...claim, destination: checksum(stranger.address) })).toBe("refund_signature");
    expect(await send(id, { ...claim, signature: `0x${"11".repeat(65)}` })).toBe("refund_signature");
    expect(await send(id, { ...claim, signature: "0x" })).toBe("refund_signature");
    expect(await send(id, { ...claim, nonce: "0".repeat(60) })).toBe("refund_signature");
    await untouched(refundId);
  });

  it.each([
    ["another domain", (text: string) => text.replace(/^\S+/, "evil.example")],
    ["another page", (text: string) => text.replace(/URI: \S+/, "URI: https://evil.example/refund")],
    ["another chain", (text: string) => text.replace("Chain ID: 31337", "Chain ID: 1")],
    ["another amount", (text: string) => text.replace("10.00 USDC", "0.01 USDC")],
    ["a later end", (text: string) => text.replace(/(Expiration Time: )\d{4}/, "$12099")],
  ])("a message of %s", async (_, change) => {
    const { id, payer, refund: refundId } = await waiting();
    const destination = checksum(newKey().address);
    const { message, nonce } = await messageFor(id, destination);
    expect(change(message)).not.toBe(message);
    const signature = await sign(payer, change(message));
    expect(await send(id, { account: payer.address, destination, nonce, signature })).toBe(
      "refund_signature",
    );
    await untouched(refundId);
  });

  it("a message of another payment by the same wallet", async () => {
    const first = await waiting();
    const firstSeller = seller;
    const second = await waiting(first.payer);
    const claim = await claimOf(first.id, first.payer);
    expect(await send(second.id, claim)).toBe("refund_signature");
    await untouched(second.refund);
    seller = firstSeller;
    await untouched(first.refund);
  });

  it("a signature that comes after its time", async () => {
    const { id, payer, refund: refundId } = await waiting();
    const claim = await claimOf(id, payer);
    clock.forward(15 * 60_000);
    expect(await send(id, claim)).toBe("refund_expired");
    expect((await asPage(`${pageOf(id)}?problem=refund_expired`)).text).toContain("came too late");
    await untouched(refundId);
    expect(await send(id, await claimOf(id, payer))).toBeNull();
  });

  it("a nonce that was used, though its message would fit again", async () => {
    const { id, payer, refund: first } = await waiting(undefined, { amount: usdc("4") });
    const claim = await claimOf(id, payer);
    expect(await send(id, claim)).toBeNull();
    await untilSucceeded(world, seller, first);
    const second = await refund(seller, id, { amount: usdc("4") });
    expect(second.body.state).toBe("requires-destination");
    expect(await send(id, claim)).toBe("refund_used");
    await untouched(second.body.id);
    expect(await held(world, claim.destination)).toBe(4_000_000n);
  });

  it("a claim for more than was signed: another refund came in between", async () => {
    const { id, payer, refund: first } = await waiting(undefined, { amount: usdc("4") });
    const claim = await claimOf(id, payer);
    const second = await refund(seller, id, { amount: usdc("1") });
    expect(await send(id, claim)).toBe("refund_signature");
    const both = await claimOf(id, payer);
    expect(await send(id, both)).toBeNull();
    for (const each of [first, second.body.id]) await untilSucceeded(world, seller, each);
    expect(await held(world, both.destination)).toBe(5_000_000n);
  });

  it("the same, made while the signature was looked at", async () => {
    const { id, payer, refund: first } = await waiting(undefined, { amount: usdc("4") });
    const { facilitator, newId } = world.house;
    let second = "";
    const desk = {
      ...{ db: world.database.db, baseUrl: world.baseUrl, newId },
      facilitator: {
        ...facilitator,
        isSignedBy: async (...asked: Parameters<typeof facilitator.isSignedBy>) => {
          second = (await refund(seller, id, { amount: usdc("1") })).body.id;
          return facilitator.isSignedBy(...asked);
        },
      },
      nonces: noncesOf("a secret of this test", systemRandom),
      now: () => clock.now(),
      machineNow: () => clock.now(),
    };
    const destination = newKey().address;
    const asked = await claimMessage(desk, { id, destination });
    const signature = await sign(payer, asked?.message ?? "");
    const claim = { id, destination, account: payer.address, nonce: asked?.nonce ?? "", signature };
    expect(await claimRefunds(desk, claim)).toBe("nothing-waits");
    for (const each of [first, second]) await untouched(each);
  });

  it("addresses of ours, of the token, of nobody; forms of other sites and of another shape", async () => {
    const { id, payer, refund: refundId } = await waiting();
    const { contracts, usdc: token } = world.dev;
    for (const destination of [contracts.treasury.address, token]) {
      const { message, nonce } = await messageFor(id, checksum(destination.toLowerCase() as Address));
      const claim = { account: payer.address, nonce, signature: await sign(payer, message) };
      const there = checksum(destination.toLowerCase() as Address);
      expect(await send(id, { ...claim, destination: there })).toBe("refund_destination");
    }
    const claim = await claimOf(id, payer);
    expect(await send(id, { ...claim, destination: `0x${"0".repeat(40)}` })).toBe("refund_destination");
    expect(await send(id, { ...claim, destination: "" })).toBe("refund_destination");
    expect(await send(id, { ...claim, more: "1" })).toBe("refund_signature");
    expect(await send(id, claim, { "Sec-Fetch-Site": "cross-site" })).toBe(403);
    await untouched(refundId);
    expect((await fetch(`${pageOf(id)}/message?destination=0x12`)).status).toBe(400);
  });
});

describe("a page without anything to claim", () => {
  it("of a payment from two wallets says whom to ask; of one without a refund that there is none", async () => {
    seller = await newSeller(world);
    const { paymentIntent, deposit } = await seller.asked();
    for (const amount of [4_000_000n, 6_000_000n]) await sendTo(world, deposit.address, amount);
    await seller.reaches(paymentIntent.id, "settled");
    expect((await asPage(pageOf(paymentIntent.id))).text).toContain("There is no refund of this payment.");
    await expectAtRest(world);
    const made = await refund(seller, paymentIntent.id);
    expect(made.body.state).toBe("requires-destination");
    const { text } = await asPage(pageOf(paymentIntent.id));
    expect(text).toContain(
      "It was paid from more than one wallet, so Test Merchant has to say where it goes.",
    );
    expect(text).not.toContain("wallet-actions");
    expect((await fetch(`${pageOf(paymentIntent.id)}/message?destination=${world.dev.lane}`)).status).toBe(
      404,
    );
  });

  it("404 for an id of nobody", async () => {
    const nobody = "pi_01K2C0Z0000000000000000000";
    expect((await asPage(pageOf(nobody))).status).toBe(404);
    const fields = { account: world.dev.lane, destination: world.dev.lane, nonce: "0".repeat(60) };
    expect(await send(nobody, { ...fields, signature: "0x11" as Hex })).toBe(404);
  });
});
