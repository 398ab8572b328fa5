import fc from "fast-check";
import { getAddress, keccak256, parseTransaction, recoverTransactionAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, it } from "vitest";
import { type Address, address, type Hex } from "#kernel/bytes";
import { addressOf, localSigner } from "../../../../facilitator/chain/evm/index.ts";
import { packAggregate3 } from "../../../../facilitator/chain/evm/multicall.ts";
import type { Call, TransactionRequest } from "../../../../facilitator/chain/port.ts";
import { type ChainRow, chainRow } from "../../../../facilitator/chain/registry.ts";
import { authorize, devDomain, newKey, type SignedAuthorization } from "../../../support/authorization.ts";

const stranger = address(`0x${"12".repeat(20)}`);
const row = chainRow({ slug: "base", chainId: 8453, rpcUrls: ["http://127.0.0.1:1"], treasury: stranger });
const token = row.tokens[0]?.contract as Address;
const multicall = row.multicall as Address;
const { key, address: lane } = newKey();
const signer = localSigner(key, [row]);

const terms = { nonce: 7, gasLimit: 150_000n, maxFeePerGas: 2_000_000n, maxPriorityFeePerGas: 1_000_000n };
let paid: SignedAuthorization;
let transfer: Call;

const sign = (request: Partial<TransactionRequest>, chain: ChainRow = row) =>
  signer.sign(chain, { ...terms, calls: [transfer], ...request });

beforeAll(async () => {
  paid = await authorize({ domain: devDomain(token, 8453), to: stranger, value: 1n });
  transfer = paid.call;
});

describe("localSigner", () => {
  it("signs a lone transfer as a direct transaction whose hash is known before it is sent", async () => {
    const { raw, hash } = await sign({});
    expect(hash).toBe(keccak256(raw));
    expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
      getAddress(lane),
    );
    expect(parseTransaction(raw).value ?? 0n).toBe(0n);
    expect(parseTransaction(raw)).toMatchObject({
      type: "eip1559",
      chainId: 8453,
      nonce: 7,
      to: token,
      data: transfer.data,
      gas: 150_000n,
      maxFeePerGas: 2_000_000n,
      maxPriorityFeePerGas: 1_000_000n,
    });
  });

  it("signs to the bytes that viem makes of the same transaction", async () => {
    const account = privateKeyToAccount(key);
    const wei = fc.bigInt(0n, row.maxFeePerGasCap);
    const request = fc.record({
      nonce: fc.nat(),
      calls: fc.integer({ min: 1, max: 5 }).map((count) => Array.from({ length: count }, () => transfer)),
      gasLimit: fc.bigInt(1n, row.transactionGasCap),
      fees: fc.tuple(wei, fc.bigInt(1n, row.maxFeePerGasCap)),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ nonce, calls, gasLimit, fees: [one, other] }) => {
        const [maxPriorityFeePerGas, maxFeePerGas] = one < other ? [one, other] : [other, one];
        const fees = { maxFeePerGas, maxPriorityFeePerGas };
        const { to, data } = calls.length === 1 ? transfer : { to: multicall, data: packAggregate3(calls) };
        const viems = await account.signTransaction({
          chainId: row.chainId,
          nonce,
          to,
          data,
          gas: gasLimit,
          ...fees,
        });
        expect((await sign({ nonce, calls, gasLimit, ...fees })).raw).toBe(viems);
      }),
    );
  });

  it("signs the same request to the same bytes: a crash between signing and storing changes nothing", async () => {
    expect(await sign({})).toEqual(await sign({}));
  });

  it("tells beforehand which calls it refuses: what is no listed token's transfer, on what is no chain of its own", () => {
    const other = { ...transfer, to: stranger };
    const elsewhere = { ...row, chainId: 1 };
    expect(signer.refuses(row, transfer)).toBe(false);
    expect([signer.refuses(row, other), signer.refuses(elsewhere, transfer)]).toEqual([true, true]);
    // by its own row: what the caller's says is not believed
    const theirs = { ...row, tokens: [{ symbol: "USDC", contract: stranger, decimals: 6 }] };
    expect(signer.refuses(theirs, other)).toBe(true);
  });

  it("signs several transfers as one aggregate3 in which each may fail", async () => {
    const calls = [transfer, paid.bytesCall, transfer];
    const { raw } = await sign({ calls });
    expect(parseTransaction(raw)).toMatchObject({ to: multicall, data: packAggregate3(calls) });
  });

  it("signs a contract wallet's transfer, a packed batch, and nothing sent to itself", async () => {
    const packed = { to: multicall, data: packAggregate3([transfer, transfer]) };
    for (const call of [paid.bytesCall, packed, { to: lane, data: "0x" as const }]) {
      const { raw } = await sign({ calls: [call] });
      expect(parseTransaction(raw).to).toBe(call.to);
    }
  });

  it("goes by its own rows: a caller who lists more tokens or higher caps gets nothing more", async () => {
    const widened: ChainRow = {
      ...row,
      tokens: [{ symbol: "USDC", contract: stranger, decimals: 6 }],
      maxFeePerGasCap: 1n << 200n,
      transactionGasCap: 1n << 200n,
    };
    const calls = [{ to: stranger, data: transfer.data }];
    await expect(sign({ calls }, widened)).rejects.toThrow("the signer refused");
    await expect(sign({ gasLimit: 16_777_217n }, widened)).rejects.toThrow("gas limit is above");
    await expect(sign({}, { ...row, chainId: 1 })).rejects.toThrow("chain 1 is not configured");
  });

  const calls = (...list: Call[]) => ({ calls: list });
  it.each<[string, () => Partial<TransactionRequest>]>([
    ["no call", () => calls()],
    ["a transfer of a token that is not listed", () => calls({ to: stranger, data: transfer.data })],
    ["a listed token's plain transfer", () => calls({ to: token, data: `0xa9059cbb${"0".repeat(128)}` })],
    ["a call with a byte too many", () => calls({ to: token, data: `${transfer.data}00` })],
    ["a call with a byte too few", () => calls({ to: token, data: transfer.data.slice(0, -2) as Hex })],
    ["nothing sent to a stranger", () => calls({ to: stranger, data: "0x" })],
    ["something sent to itself", () => calls({ to: lane, data: "0x00" })],
    ["a batch that another contract would run", () => calls({ to: token, data: packAggregate3([transfer]) })],
    ["an empty batch", () => calls({ to: multicall, data: packAggregate3([]) })],
    [
      "a batch with one stranger in it",
      () => calls(transfer, { to: stranger, data: transfer.data }, transfer),
    ],
    [
      "a packed batch with one stranger in it",
      () => calls({ to: multicall, data: packAggregate3([transfer, { to: stranger, data: "0x" }]) }),
    ],
    [
      "a batch inside a batch",
      () =>
        calls({ to: multicall, data: packAggregate3([{ to: multicall, data: packAggregate3([transfer]) }]) }),
    ],
    ["a batch above the chain's limit", () => calls(...Array.from({ length: 235 }, () => transfer))],
    ["a gas limit above the cap", () => ({ gasLimit: 16_777_217n })],
    ["no gas", () => ({ gasLimit: 0n })],
    ["a fee above the cap", () => ({ maxFeePerGas: 5_000_000_001n })],
    ["a tip above the fee", () => ({ maxPriorityFeePerGas: 2_000_001n })],
    ["a negative nonce", () => ({ nonce: -1 })],
  ])("refuses %s", async (_, request) => {
    await expect(sign(request())).rejects.toThrow("the signer refused a transaction");
  });

  it("never signs a call that somebody made up", async () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const hex = (part: Uint8Array): Hex => `0x${Buffer.from(part).toString("hex")}`;
    const target = fc.oneof(
      bytes(20).map((part) => hex(part) as Address),
      fc.constantFrom(token, multicall, lane),
    );
    const selector = fc.oneof(
      bytes(4).map(hex),
      fc.constantFrom<Hex>("0xa9059cbb", "0x095ea7b3", "0x82ad56cb"),
    );
    const data = fc
      .tuple(selector, fc.uint8Array({ maxLength: 400 }))
      .map(([head, tail]) => `${head}${Buffer.from(tail).toString("hex")}` as Hex);
    const madeUp = fc.record({ to: target, data });
    await fc.assert(
      fc.asyncProperty(
        fc.array(madeUp, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (list, packed) => {
          const made = packed ? [{ to: multicall, data: packAggregate3(list) }] : list;
          await expect(sign({ calls: made })).rejects.toThrow("the signer refused");
          await expect(sign({ calls: [transfer, ...made] })).rejects.toThrow("the signer refused");
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("a private key", () => {
  it("has an address", () => {
    expect(addressOf(`0x${"0".repeat(63)}1`)).toBe("0x7e5f4552091a69125d5dfcb7b8c2659029395bdf");
  });

  it.each(["", "0x12", `0x${"0".repeat(64)}`, `0x${"f".repeat(64)}`])(
    "that is none is not repeated: %j",
    (text) => {
      expect(() => localSigner(text, [row])).toThrow(TypeError);
      if (text) expect(() => addressOf(text)).not.toThrow(text);
    },
  );
});
