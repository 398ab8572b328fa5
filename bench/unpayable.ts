/** Payments that nobody can be paid with, of each kind that costs a facilitator time or gas. */
import { randomBytes } from "node:crypto";
import { encodeFunctionData, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { address, fromBytes } from "#kernel/bytes";
import { loadArtifacts } from "../contracts/index.ts";
import type { DevContracts } from "../src/dev/deploy.ts";
import { rpc } from "../src/dev/rpc.ts";
import { fundPayers, makePayers, type Payer } from "./payers.ts";
import { type Offer, paymentBody } from "./payments.ts";
import type { Shot } from "./steady.ts";

export interface Scene {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly contracts: DevContracts;
  readonly offer: Offer;
}

export interface Kind {
  readonly name: string;
  make(scene: Scene, count: number): Promise<readonly Shot[]>;
}

const abi = parseAbi(["function transfer(address to, uint256 value) returns (bool)"]);
const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;
/** As `Wallet1271` counts its modes. */
const modes = { burnsGas: 1, onlySimulated: 2 } as const;
/** How many a payer signs who has money for one. */
const FOR_ONE_BALANCE = 20;

let made = 0;
/** Payers that no other part of a benchmark has. */
function newPayers(count: number): readonly Payer[] {
  made += count;
  return makePayers(1_000_000 + made, 1_000_000 + made - count);
}

export const kinds: readonly Kind[] = [
  {
    name: "signed by another key",
    make: async (scene, count) => {
      const payers = newPayers(count);
      return payers.map((payer, i) => {
        const forger = payers[(i + 1) % count] ?? payer;
        return { body: paymentBody(scene.offer, forger, { validBefore: inAnHour(), from: payer.address }) };
      });
    },
  },
  {
    name: "no money",
    make: async ({ offer }, count) =>
      newPayers(count).map((payer) => ({ body: paymentBody(offer, payer, { validBefore: inAnHour() }) })),
  },
  {
    name: "expired",
    make: async (scene, count) => {
      const payers = await withMoney(scene, newPayers(count));
      const validBefore = inAnHour() - 7_200;
      return payers.map((payer) => ({ body: paymentBody(scene.offer, payer, { validBefore }) }));
    },
  },
  {
    name: `${FOR_ONE_BALANCE} for one balance`,
    make: async (scene, count) => {
      const payers = await withMoney(scene, newPayers(Math.ceil(count / FOR_ONE_BALANCE)));
      return payers
        .flatMap((payer) => Array<Payer>(FOR_ONE_BALANCE).fill(payer))
        .map((payer) => ({ body: paymentBody(scene.offer, payer, { validBefore: inAnHour() }) }));
    },
  },
  { name: "money gone on the chain", make: thieves },
  { name: "a wallet that burns its gas", make: (scene, count) => wallets(scene, count, modes.burnsGas) },
  {
    name: "a wallet that changes its mind",
    make: (scene, count) => wallets(scene, count, modes.onlySimulated),
  },
];

/** Each has what one payment takes. */
async function withMoney(
  { rpcUrl, chainId, contracts, offer }: Scene,
  payers: readonly Payer[],
): Promise<readonly Payer[]> {
  const { aggregate3, deployer } = contracts;
  const token = offer.requirements.asset;
  const each = BigInt(offer.requirements.amount);
  await fundPayers(payers, { rpcUrl, chainId, token, aggregate3, deployerKey: deployer.privateKey, each });
  return payers;
}

/** Each takes its money away in the very block in which the payment would be mined, before it: at a higher fee. */
async function thieves(scene: Scene, count: number): Promise<readonly Shot[]> {
  const { rpcUrl, chainId, offer } = scene;
  const payers = await withMoney(scene, newPayers(count));
  const { asset, amount } = offer.requirements;
  const shots: Shot[] = [];
  for (const payer of payers) {
    await rpc(rpcUrl, "anvil_setBalance", [payer.address, "0xde0b6b3a7640000"], 20_000);
    const raw = await privateKeyToAccount(fromBytes(payer.privateKey)).signTransaction({
      ...({ type: "eip1559", chainId, nonce: 0, gas: 100_000n } as const),
      ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n },
      to: address(asset),
      data: encodeFunctionData({ abi, functionName: "transfer", args: [elsewhere, BigInt(amount)] }),
    });
    shots.push({
      body: paymentBody(offer, payer, { validBefore: inAnHour() }),
      before: () => rpc(rpcUrl, "eth_sendRawTransaction", [raw], 20_000),
    });
  }
  return shots;
}
const elsewhere = address(`0x${"77".repeat(20)}`);

/** A contract wallet for each payment, with money. */
async function wallets(scene: Scene, count: number, mode: number): Promise<readonly Shot[]> {
  const { wallet1271 } = await loadArtifacts();
  const owners = newPayers(count);
  const accounts = owners.map((owner) => ({ ...owner, address: address(fromBytes(randomBytes(20))) }));
  await withMoney(scene, accounts);
  const shots: Shot[] = [];
  for (const [i, owner] of owners.entries()) {
    const wallet = accounts[i]?.address ?? owner.address;
    const slot = `0x${mode.toString(16).padStart(24, "0")}${owner.address.slice(2)}`;
    await rpc(scene.rpcUrl, "anvil_setCode", [wallet, wallet1271.deployedBytecode], 20_000);
    await rpc(scene.rpcUrl, "anvil_setStorageAt", [wallet, `0x${"0".repeat(64)}`, slot], 20_000);
    shots.push({ body: paymentBody(scene.offer, owner, { validBefore: inAnHour(), from: wallet }) });
  }
  return shots;
}
