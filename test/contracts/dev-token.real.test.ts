import {
  type Address,
  decodeEventLog,
  domainSeparator,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseSignature,
  type TransactionReceipt,
  toFunctionSelector,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rpc } from "../../src/dev/rpc.ts";
import { artifact, openChain, type TestChain } from "./chain.ts";

const abi = parseAbi([
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])",
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)",
  "function mint(address, uint256)",
  "function initialize(string, string, string, address)",
  "function pause()",
  "function unpause()",
  "function block(address)",
  "function unblock(address)",
  "function authorizationState(address, bytes32) view returns (bool)",
  "function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)",
  "function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)",
  "function receiveWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)",
  "function receiveWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)",
  "function cancelAuthorization(address, bytes32, uint8, bytes32, bytes32)",
  "function cancelAuthorization(address, bytes32, bytes)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

const authorizationFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;
const cancelFields = [
  { name: "authorizer", type: "address" },
  { name: "nonce", type: "bytes32" },
] as const;
const types = {
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  CancelAuthorization: cancelFields,
} as const;

const errors = {
  used: toFunctionSelector("ERC3009UsedAuthorization(address,bytes32)"),
  time: toFunctionSelector("ERC3009InvalidAuthorizationTime(uint256,uint256)"),
  signature: toFunctionSelector("ERC3009InvalidSignature()"),
  funds: toFunctionSelector("ERC20InsufficientBalance(address,uint256,uint256)"),
  initialized: toFunctionSelector("InvalidInitialization()"),
  paused: toFunctionSelector("EnforcedPause()"),
  blocked: toFunctionSelector("AccountBlocked(address)"),
};

let chain: TestChain;
beforeAll(async () => {
  chain = await openChain();
}, 30_000);
afterAll(() => chain.close(), 30_000);

const usdc = () => chain.contracts.assets.USDC;
const domain = () => ({ name: "USD Coin", version: "2", chainId: 31337, verifyingContract: usdc() }) as const;
const balance = (of: Address) =>
  chain.client.readContract({ address: usdc(), abi, functionName: "balanceOf", args: [of] });

/** An authorization of the payer over 5 atomic units, valid for ever unless told. */
function authorization(
  change: Partial<{
    from: Address;
    to: Address;
    value: bigint;
    validAfter: bigint;
    validBefore: bigint;
  }> = {},
) {
  const { payer, treasury } = chain.contracts;
  const plain = {
    from: payer.address,
    to: treasury.address,
    value: 5n,
    validAfter: 0n,
    validBefore: 2n ** 40n,
  };
  return { ...plain, nonce: generatePrivateKey(), ...change };
}
type Authorization = ReturnType<typeof authorization>;

function sign(
  message: Authorization,
  key = chain.contracts.payer.privateKey,
  primaryType: "TransferWithAuthorization" | "ReceiveWithAuthorization" = "TransferWithAuthorization",
): Promise<Hex> {
  return privateKeyToAccount(key).signTypedData({ domain: domain(), types, primaryType, message });
}

const fields = ({ from, to, value, validAfter, validBefore, nonce }: Authorization) =>
  [from, to, value, validAfter, validBefore, nonce] as const;
const split = (signature: Hex) => {
  const { r, s, yParity } = parseSignature(signature);
  return [27 + yParity, r, s] as const;
};
const byBytes = (message: Authorization, signature: Hex): Hex =>
  encodeFunctionData({
    abi,
    functionName: "transferWithAuthorization",
    args: [...fields(message), signature],
  });
const byParts = (message: Authorization, signature: Hex): Hex =>
  encodeFunctionData({
    abi,
    functionName: "transferWithAuthorization",
    args: [...fields(message), ...split(signature)],
  });

const submit = (data: Hex): Promise<TransactionReceipt> =>
  chain.send(chain.contracts.signers[0] ?? chain.contracts.payer, usdc(), data);
const asOwner = (data: Hex): Promise<TransactionReceipt> =>
  chain.send(chain.contracts.deployer, usdc(), data);
const events = (receipt: TransactionReceipt) => receipt.logs.map((log) => decodeEventLog({ abi, ...log }));

/** The error data that a call answers with. */
async function refusal(data: Hex, to: Address = usdc()): Promise<string> {
  const answer = await fetch(chain.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "eth_call",
      params: [{ to, data, gas: "0x2dc6c0" }, "latest"],
    }),
  });
  return ((await answer.json()) as { error?: { data?: string } }).error?.data?.slice(0, 10) ?? "none";
}

describe("domain", () => {
  it.each([
    ["USDC", "USD Coin", "2"],
    ["EURC", "EURC", "2"],
    ["USDG", "Global Dollar", "1"],
  ] as const)(
    "%s has its name, version, six decimals, and the separator computed from them",
    async (symbol, name, version) => {
      const verifyingContract = chain.contracts.assets[symbol];
      const read = <
        T extends "name" | "symbol" | "version" | "decimals" | "DOMAIN_SEPARATOR" | "eip712Domain",
      >(
        functionName: T,
      ) => chain.client.readContract({ address: verifyingContract, abi, functionName });
      expect([
        await read("name"),
        await read("symbol"),
        await read("version"),
        await read("decimals"),
      ]).toEqual([name, symbol, version, 6]);
      const separator = domainSeparator({ domain: { name, version, chainId: 31337, verifyingContract } });
      expect(await read("DOMAIN_SEPARATOR")).toBe(separator);
      expect(await read("eip712Domain")).toEqual([
        "0x0f",
        name,
        version,
        31337n,
        verifyingContract,
        `0x${"0".repeat(64)}`,
        [],
      ]);
    },
  );

  it("is right where the code was etched instead of deployed", async () => {
    const target = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
    const { deployedBytecode } = await artifact("devToken");
    await rpc(chain.url, "anvil_setCode", [target, deployedBytecode]);
    const args = ["USDC", "USDC", "2", chain.contracts.deployer.address] as const;
    await chain.send(
      chain.contracts.deployer,
      target,
      encodeFunctionData({ abi, functionName: "initialize", args }),
    );
    const [, name, , chainId, address] = await chain.client.readContract({
      address: target,
      abi,
      functionName: "eip712Domain",
    });
    expect([name, chainId, address]).toEqual(["USDC", 31337n, target]);
    const mint = encodeFunctionData({ abi, functionName: "mint", args: [chain.contracts.payer.address, 7n] });
    expect((await chain.send(chain.contracts.deployer, target, mint)).status).toBe("success");
  });

  it("is set once", async () => {
    const again = encodeFunctionData({
      abi,
      functionName: "initialize",
      args: ["X", "X", "1", chain.contracts.payer.address],
    });
    expect(await refusal(again)).toBe(errors.initialized);
    expect(await refusal(again, chain.contracts.tokenImplementation)).toBe(errors.initialized);
  });
});

describe("transferWithAuthorization", () => {
  it.each([
    ["v, r, s", byParts, "0xe3ee160e"],
    ["bytes", byBytes, "0xcf092995"],
  ] as const)(
    "%s: moves the money once; AuthorizationUsed comes directly before Transfer",
    async (_form, encode, selector) => {
      // given a signed authorization
      const message = authorization();
      const data = encode(message, await sign(message));
      expect(data.slice(0, 10)).toBe(selector);
      const before = await balance(message.to);
      // when it is submitted twice
      const receipt = await submit(data);
      const again = await submit(data);
      // then it pays once
      expect(events(receipt)).toMatchObject([
        { eventName: "AuthorizationUsed", args: { authorizer: message.from, nonce: message.nonce } },
        { eventName: "Transfer", args: { from: message.from, to: message.to, value: 5n } },
      ]);
      expect(again.status).toBe("reverted");
      expect(await refusal(data)).toBe(errors.used);
      expect(await balance(message.to)).toBe(before + 5n);
      const used = [message.from, message.nonce] as const;
      expect(
        await chain.client.readContract({
          address: usdc(),
          abi,
          functionName: "authorizationState",
          args: used,
        }),
      ).toBe(true);
    },
  );

  it("refuses another's signature, a changed amount, money that is not there, and both strict time bounds", async () => {
    const message = authorization();
    const foreign = await sign(message, chain.contracts.treasury.privateKey);
    expect([await refusal(byBytes(message, foreign)), await refusal(byParts(message, foreign))]).toEqual([
      errors.signature,
      errors.signature,
    ]);
    expect(await refusal(byBytes({ ...message, value: 6n }, await sign(message)))).toBe(errors.signature);
    const tooMuch = authorization({ value: 10n ** 20n });
    expect(await refusal(byParts(tooMuch, await sign(tooMuch)))).toBe(errors.funds);
    for (const change of [
      { validBefore: 1n },
      { validAfter: 2n ** 39n },
      { validAfter: 2n ** 47n, validBefore: 2n ** 48n - 1n },
    ]) {
      const closed = authorization(change);
      expect(await refusal(byParts(closed, await sign(closed)))).toBe(errors.time);
    }
  });

  it("pays from an ERC-1271 wallet through bytes only", async () => {
    // given a wallet with money, owned by the payer
    const { payer, deployer } = chain.contracts;
    const { abi: walletAbi, bytecode } = await artifact("wallet1271");
    const deployed = await chain.send(
      deployer,
      null,
      encodeDeployData({ abi: walletAbi, bytecode, args: [payer.address] }),
    );
    const wallet = deployed.contractAddress ?? payer.address;
    await asOwner(encodeFunctionData({ abi, functionName: "mint", args: [wallet, 9n] }));
    // when the owner signs for it
    const message = authorization({ from: wallet });
    const signature = await sign(message);
    // then the bytes form pays
    expect(await refusal(byParts(message, signature))).toBe(errors.signature);
    const setMode = (mode: number) =>
      chain.send(
        deployer,
        wallet,
        encodeFunctionData({ abi: walletAbi, functionName: "setMode", args: [mode] }),
      );
    await setMode(1); // burns its gas: the call fails without a word
    expect(await refusal(byBytes(message, signature))).not.toBe("none");
    await setMode(2); // says yes in a simulation, no in a block
    expect(await refusal(byBytes(message, "0x"))).toBe("none");
    expect((await submit(byBytes(message, "0x"))).status).toBe("reverted");
    await setMode(0);
    expect((await submit(byBytes(message, signature))).status).toBe("success");
    expect([
      await balance(wallet),
      await refusal(byBytes(authorization({ from: wallet }), signature)),
    ]).toEqual([4n, errors.signature]);
  });
});

describe("receiveWithAuthorization", () => {
  it("pays only when the payee itself submits", async () => {
    const [signer] = chain.contracts.signers;
    if (!signer) throw new Error("no signer");
    for (const form of ["parts", "bytes"]) {
      const message = authorization({ to: signer.address });
      const signature = await sign(message, undefined, "ReceiveWithAuthorization");
      const data =
        form === "bytes"
          ? encodeFunctionData({
              abi,
              functionName: "receiveWithAuthorization",
              args: [...fields(message), signature],
            })
          : encodeFunctionData({
              abi,
              functionName: "receiveWithAuthorization",
              args: [...fields(message), ...split(signature)],
            });
      expect((await chain.send(chain.contracts.deployer, usdc(), data)).status).toBe("reverted");
      expect((await chain.send(signer, usdc(), data)).status).toBe("success");
    }
    expect(await balance(signer.address)).toBe(10n);
  });
});

describe("cancelAuthorization", () => {
  it.each(["parts", "bytes"])("%s: the authorization can never pay, and no money moved", async (form) => {
    const message = authorization();
    const { from: authorizer, nonce } = message;
    const account = privateKeyToAccount(chain.contracts.payer.privateKey);
    const signature = await account.signTypedData({
      domain: domain(),
      types,
      primaryType: "CancelAuthorization",
      message: { authorizer, nonce },
    });
    const data =
      form === "bytes"
        ? encodeFunctionData({
            abi,
            functionName: "cancelAuthorization",
            args: [authorizer, nonce, signature],
          })
        : encodeFunctionData({
            abi,
            functionName: "cancelAuthorization",
            args: [authorizer, nonce, ...split(signature)],
          });
    expect(events(await submit(data))).toMatchObject([
      { eventName: "AuthorizationCanceled", args: { authorizer, nonce } },
    ]);
    expect(await refusal(byBytes(message, await sign(message)))).toBe(errors.used);
  });
});

describe("the owner", () => {
  it("pauses, blocks and mints; nobody else does", async () => {
    const message = authorization();
    const data = byBytes(message, await sign(message));
    const { payer } = chain.contracts;
    const pause = encodeFunctionData({ abi, functionName: "pause" });
    expect((await chain.send(payer, usdc(), pause)).status).toBe("reverted");
    await asOwner(pause);
    expect(await refusal(data)).toBe(errors.paused);
    await asOwner(encodeFunctionData({ abi, functionName: "unpause" }));
    await asOwner(encodeFunctionData({ abi, functionName: "block", args: [payer.address] }));
    expect(await refusal(data)).toBe(errors.blocked);
    await asOwner(encodeFunctionData({ abi, functionName: "unblock", args: [payer.address] }));
    expect((await submit(data)).status).toBe("success");
    const mint = encodeFunctionData({ abi, functionName: "mint", args: [payer.address, 1n] });
    expect((await chain.send(payer, usdc(), mint)).status).toBe("reverted");
  });
});
