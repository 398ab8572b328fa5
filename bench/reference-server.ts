/** The reference facilitator as its own packages put it together, in a process of its own:
 *  `node --import tsx bench/reference-server.ts --port N --rpc-url URL --key-file FILE [--plain]`. Stores nothing.
 *  `--plain` is an account as viem makes it unless it is told otherwise, without the nonce manager. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { serve } from "@hono/node-server";
import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { Hono } from "hono";
import {
  createWalletClient,
  defineChain,
  type Hex,
  http,
  publicActions,
  type VerifyTypedDataActionParameters,
} from "viem";
import { nonceManager, privateKeyToAccount } from "viem/accounts";

interface PaymentBody {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
}

const { values } = parseArgs({
  options: {
    port: { type: "string" },
    "rpc-url": { type: "string" },
    "key-file": { type: "string" },
    "chain-id": { type: "string", default: "31337" },
    "block-time-ms": { type: "string", default: "1000" },
    plain: { type: "boolean", default: false },
  },
});
const { port, "rpc-url": rpcUrl, "key-file": keyFile } = values;
if (!port || !rpcUrl || !keyFile) throw new Error("--port, --rpc-url and --key-file are needed");

// With the block time known, viem polls for receipts twice a block; without it every four seconds.
const chain = defineChain({
  id: Number(values["chain-id"]),
  name: "local",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [rpcUrl] } },
  blockTime: Number(values["block-time-ms"]),
});
// Without the nonce manager, settles at the same time take the same nonce and most of them fail.
const account = privateKeyToAccount(
  readFileSync(keyFile, "utf8").trim() as Hex,
  values.plain ? {} : { nonceManager },
);
const client = createWalletClient({ account, chain, transport: http() }).extend(publicActions);

const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: (args) => client.getCode(args),
  readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
  verifyTypedData: (args) => client.verifyTypedData(args as VerifyTypedDataActionParameters), // their types are looser
  writeContract: (args) => client.writeContract(args),
  sendTransaction: (args) => client.sendTransaction(args),
  waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
});
const facilitator = new x402Facilitator().register(`eip155:${chain.id}`, new ExactEvmScheme(signer));

const app = new Hono();
app.get("/supported", (c) => c.json(facilitator.getSupported()));
app.post("/verify", async (c) => {
  const { paymentPayload, paymentRequirements } = await c.req.json<PaymentBody>();
  return c.json(await facilitator.verify(paymentPayload, paymentRequirements));
});
app.post("/settle", async (c) => {
  const { paymentPayload, paymentRequirements } = await c.req.json<PaymentBody>();
  return c.json(await facilitator.settle(paymentPayload, paymentRequirements));
});
const server = serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" });
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  setTimeout(() => process.exit(0), 1000).unref(); // a settle may wait three minutes for its receipt
});
