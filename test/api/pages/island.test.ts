import { gzipSync } from "node:zlib";
import { encodeFunctionData, erc20Abi, hashTypedData, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { address, hash } from "#kernel/bytes";
import { bundle } from "../../../api/pages/assets.ts";
import { authorizationOf, fromHeader, toHeader, typedData } from "../../../api/pages/island/authorization.ts";
import {
  allowanceCall,
  approveCall,
  balanceCall,
  payCall,
  transferCall,
} from "../../../api/pages/island/encode.ts";
import { ensureNetwork, WrongNetwork } from "../../../api/pages/island/networks.ts";
import { transferDigest } from "../../../facilitator/scheme/exact-evm/digest.ts";

const one = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const other = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const routerAbi = parseAbi([
  "function pay((bytes32 paymentRef, address token, address payTo, uint256 amount, uint256 deadline) order, bytes operatorSignature)",
]);

describe("the calls of the page's wallet", () => {
  it.each([0n, 1n, 10_000_000n, 2n ** 128n - 1n])("say what viem says, of %s", (amount) => {
    const abi = erc20Abi;
    expect(transferCall(one, amount)).toBe(
      encodeFunctionData({ abi, functionName: "transfer", args: [one, amount] }),
    );
    expect(approveCall(one, amount)).toBe(
      encodeFunctionData({ abi, functionName: "approve", args: [one, amount] }),
    );
    expect(allowanceCall(one, other)).toBe(
      encodeFunctionData({ abi, functionName: "allowance", args: [one, other] }),
    );
    expect(balanceCall(one)).toBe(encodeFunctionData({ abi, functionName: "balanceOf", args: [one] }));
  });

  it.each([65, 64, 1])("pays an order through the router, with a signature of %i bytes", (length) => {
    const signature = `0x${"ab".repeat(length)}` as const;
    const paymentRef = `0x${"12".repeat(32)}` as const;
    const terms = { paymentRef, token: one, payTo: other, amount: 7n, deadline: 1_900_000_000n } as const;
    const order = { ...terms, amount: "7", deadline: "1900000000" };
    expect(payCall({ router: one, order, signature })).toBe(
      encodeFunctionData({ abi: routerAbi, functionName: "pay", args: [terms, signature] }),
    );
  });
});

describe("the authorization of the page's wallet", () => {
  const option = {
    scheme: "exact",
    network: "eip155:8453",
    amount: "10000000",
    asset: one,
    payTo: other,
    maxTimeoutSeconds: 300,
    extra: { name: "USD Coin", version: "2" },
  };

  it("is good for as long as the option allows, with a nonce of its own each time", () => {
    const made = authorizationOf(option, one, 1_800_000_000_999);
    expect(made).toMatchObject({ from: one, to: other, value: "10000000", validBefore: "1800000300" });
    expect(made.nonce).toMatch(/^0x[0-9a-f]{64}$/);
    expect(authorizationOf(option, one, 0).nonce).not.toBe(made.nonce);
  });

  it("is what the facilitator recovers the payer from", () => {
    const message = authorizationOf(option, one, 1_800_000_000_000);
    const { types, domain, primaryType } = typedData(option, 8453, message);
    const digest = hashTypedData({ types, domain, primaryType, message } as never);
    const { EIP712Domain: _, ...rest } = types;
    expect(Object.keys(rest)).toEqual([primaryType]);
    const signed = {
      method: "eip3009" as const,
      payer: address(one),
      payTo: address(other),
      signature: "0x" as const,
      value: 10_000_000n,
      validAfter: 0n,
      validBefore: BigInt(message.validBefore),
      nonce: hash(message.nonce),
    };
    expect(digest).toBe(transferDigest({ ...domain, verifyingContract: address(one) }, signed));
  });

  it("goes through a header and back, whatever it says", () => {
    const value = { text: "Żółć ✓", list: [1, "2"] };
    expect(fromHeader(toHeader(value))).toEqual(value);
    expect(JSON.parse(Buffer.from(toHeader(value), "base64").toString("utf8"))).toEqual(value);
  });
});

describe("ensureNetwork", () => {
  const base = { chainId: 8453, chainName: "Base", explorer: "https://basescan.org" };

  /** A wallet on another network; `refuses` says with which codes it refuses to switch, one after the other. */
  function wallet(...refuses: readonly unknown[]) {
    const asked: string[] = [];
    const left = [...refuses];
    let chainId = "0x1";
    const request = async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
      asked.push(method === "wallet_addEthereumChain" ? `${method} ${JSON.stringify(params)}` : method);
      if (method === "eth_chainId") return chainId;
      if (method !== "wallet_switchEthereumChain") return null;
      const refusal = left.shift();
      if (refusal) throw refusal;
      chainId = "0x2105";
      return null;
    };
    return { asked, request };
  }

  it("asks nothing of a wallet that is there", async () => {
    const there = wallet();
    await there.request({ method: "wallet_switchEthereumChain" });
    await ensureNetwork(there, base);
    expect(there.asked.slice(1)).toEqual(["eth_chainId"]);
  });

  it.each([[{ code: 4902 }], [{ code: -32603, data: { originalError: { code: 4902 } } }]])(
    "adds a network that the wallet does not know: %o",
    async (refusal) => {
      const other = wallet(refusal);
      await ensureNetwork(other, base);
      const added = other.asked.find((each) => each.startsWith("wallet_addEthereumChain"));
      expect(added).toContain('"rpcUrls":["https://mainnet.base.org"]');
      expect(added).toContain('"chainId":"0x2105"');
    },
  );

  it("adds no network that only we know, and takes no for an answer", async () => {
    const local = { chainId: 31337, chainName: "Local chain", explorer: "" };
    await expect(ensureNetwork(wallet({ code: 4902 }), local)).rejects.toBeInstanceOf(WrongNetwork);
    const declined = { code: 4001 };
    await expect(ensureNetwork(wallet(declined), base)).rejects.toBe(declined);
  });
});

describe("the script", () => {
  it("is small, and has no library of wallets in it", async () => {
    const script = await bundle();
    expect(gzipSync(script).length).toBeLessThan(12_000);
    expect(script.toString()).not.toMatch(/eval\(|new Function|innerHTML|document\.write/);
  }, 30_000);
});
