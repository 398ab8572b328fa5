/** One payment to play with, and what others may do to it on the chain. */
import { encodeFunctionData, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import type { Address, Hash, Hex } from "#kernel/bytes";
import type { Call } from "../../facilitator/chain/port.ts";
import { newKey, type SignedAuthorization } from "./authorization.ts";
import type { TestDatabase } from "./db.ts";
import type { DevChain } from "./dev-chain.ts";
import {
  type Answer,
  books,
  get,
  type Merchant,
  newPayer,
  type Payer,
  type PaymentTerms,
  post,
  type Resource,
  rowOf,
  signPayment,
  until,
} from "./house.ts";
import { claimOf } from "./records.ts";

export interface Place {
  readonly dev: DevChain;
  readonly database: TestDatabase;
  readonly baseUrl: string;
}

export interface Payment {
  readonly resource: Resource;
  readonly payer: Payer;
  readonly signed: SignedAuthorization;
  readonly nonce: Hash;
  readonly body: Awaited<ReturnType<typeof signPayment>>["body"];
  settle(headers?: Record<string, string>, baseUrl?: string): Promise<Answer>;
  verify(baseUrl?: string): Promise<Answer>;
}

/** A signed payment of one cent, or of `dollars`; its resource is new, its payer a fresh one with exactly the money it
 *  takes, unless they are given. */
export async function newPayment(
  { dev, baseUrl }: Place,
  merchant: Merchant,
  given: {
    readonly resource?: Resource;
    readonly payer?: Payer;
    readonly terms?: PaymentTerms;
    readonly dollars?: bigint;
  } = {},
): Promise<Payment> {
  const amount = given.dollars === undefined ? 10_000n : given.dollars * 1_000_000n;
  const price = given.dollars === undefined ? {} : { price: { amount: `${given.dollars}`, asset: "USD" } };
  const resource = given.resource ?? (await merchant.register(price));
  const payer = given.payer ?? (await newPayer(dev, amount));
  const { body, signed } = await signPayment(dev, payer, resource, { amount, ...given.terms });
  body.paymentRequirements.amount = `${amount}`; // the accepted option is the same object
  const path = `/x402/resources/${resource.id}`;
  return {
    resource,
    payer,
    signed,
    nonce: signed.nonce,
    body,
    settle: (headers = {}, at = baseUrl) => post(at, `${path}/settle`, body, headers),
    verify: (at = baseUrl) => post(at, `${path}/verify`, body),
  };
}

/** The payment is claimed, and whoever sends has not looked at it again: what it waits for may have been held before. */
export async function claimedAndHeld(
  { database }: Place,
  { nonce }: Pick<Payment, "nonce">,
  dispatch: { readonly reached: Promise<void> },
): Promise<void> {
  await dispatch.reached;
  await until(async () => (await claimOf(database, nonce)) !== null, "it is claimed");
}

/** The payer's own signature, sent by somebody else. */
export function submitAsStranger({ dev }: Place, call: Call): Promise<Hex> {
  return dev.transact(dev.contracts.payer.address, call);
}

export async function cancel({ dev }: Place, payer: Payer, nonce: Hash): Promise<void> {
  const signature = await privateKeyToAccount(payer.key).signTypedData({
    domain: {
      name: "USD Coin",
      version: "2",
      chainId: dev.anvil.chainId,
      verifyingContract: dev.usdc,
    },
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: payer.address, nonce },
  });
  const abi = parseAbi(["function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)"]);
  const data = encodeFunctionData({
    abi,
    functionName: "cancelAuthorization",
    args: [payer.address, nonce, signature],
  });
  await dev.transact(dev.contracts.payer.address, { to: dev.usdc, data });
}

/** A plain transfer of dev USDC, without any authorization. */
export async function transfer({ dev }: Place, from: string, to: string, amount: bigint): Promise<Hex> {
  const abi = parseAbi(["function transfer(address to, uint256 value)"]);
  const data = encodeFunctionData({ abi, functionName: "transfer", args: [to as Address, amount] });
  await dev.anvil.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"]);
  return dev.transact(from, { to: dev.usdc, data });
}

/** The payer spends elsewhere what the payment would take. */
export async function drain(place: Place, payer: Payer, amount = 10_000n): Promise<void> {
  await transfer(place, payer.address, newKey().address, amount);
}

/** Blocks come only when the test says so, until `work` is done. */
export async function withMiningHeld<T>({ dev }: Place, work: () => Promise<T>): Promise<T> {
  await dev.anvil.rpc("evm_setAutomine", [false]);
  try {
    return await work();
  } finally {
    await dev.anvil.rpc("evm_setAutomine", [true]);
  }
}

/** While `work` runs the books are said to differ from the chain, so the treasury signs nothing. */
export async function withoutSigning<T>({ dev, database }: Place, work: () => Promise<T>): Promise<T> {
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO reconciliation (chain_id, asset, block_number, status, ledger, unexplained)
     VALUES ($1, 'USDC@local', 0, 'different', 0, 1) RETURNING id`,
    [dev.anvil.chainId],
  );
  try {
    return await work();
  } finally {
    await database.query("DELETE FROM reconciliation WHERE id = $1", [row?.id]);
  }
}

/** Where the payment stands by its status URL. */
export async function statusOf({ baseUrl }: Place, answer: Answer): Promise<Answer["body"]> {
  return (await get(baseUrl, new URL(answer.body.extra.statusUrl).pathname)).body;
}

/** What has happened on the chain by now is known to the service. */
export async function headIsFollowed({ dev, database }: Place): Promise<void> {
  const { number } = await dev.chain.head();
  await until(async () => {
    const [row] = await database.query<{ at: string }>(
      "SELECT cursor_number AS at FROM observer WHERE chain_id = $1",
      [dev.anvil.chainId],
    );
    return Number(row?.at) >= number;
  }, "the head is followed");
}

/** Mines to finality and waits until nothing moves: the chain followed to its head, no open slot, no claim that is on
 *  its way, no row pending, no money unbooked. Then the books balance and equal the chain. What follows finality by
 *  itself (a promised refund) may set out between two looks; the comparison counts when nothing moved meanwhile. */
export async function expectAtRest(place: Place, withinMs?: number): Promise<void> {
  const { dev, database } = place;
  const { number } = await dev.chain.head();
  let found: Awaited<ReturnType<typeof books>> | undefined;
  const isAtRest = async () => {
    const before = await movement(place);
    if (before.moving !== "0" || Number(before.final) < number) {
      await dev.anvil.mine();
      return false;
    }
    found = await books(dev, database);
    const after = await movement(place);
    return after.moving === "0" && after.slots === before.slots;
  };
  await until(isAtRest, "everything comes to rest", withinMs);
  expect(found).toMatchObject({ balanced: true, treasury: found?.chain });
}

/** How much is under way on a chain, how many slots there ever were, and up to which block it is known to be final. */
async function movement({ dev, database }: Place) {
  const { chainId, slug } = rowOf(dev);
  const [row] = await database.query<{ moving: string; slots: string; final: string }>(
    `
    SELECT (SELECT count(*) FROM slot WHERE open AND chain_id = $2)
      + (SELECT count(*) FROM claim WHERE state IN ('claimed','submitting','included') AND chain_id = $2)
      + (SELECT count(*) FROM ledger_balance JOIN ledger_account ON id = account_id
          WHERE (debits_pending <> 0 OR credits_pending <> 0) AND asset LIKE '%@' || $3)
      + (SELECT count(*) FROM chain_transfer WHERE canonical AND claimed_kind IS NULL
          AND recipient = decode($1, 'hex') AND chain_id = $2) AS moving,
    (SELECT count(*) FROM slot WHERE chain_id = $2) AS slots,
    (SELECT finalized_number FROM observer WHERE chain_id = $2) AS final`,
    [dev.contracts.treasury.address.slice(2), chainId, slug],
  );
  if (!row) throw new Error("a query without a row");
  return row;
}
