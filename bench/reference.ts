/** Starts the reference facilitator beside us, with a gas key of its own. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { address, checksum } from "#kernel/bytes";
import { freePort } from "../src/dev/free-port.ts";
import { rpc } from "../src/dev/rpc.ts";
import { startChild } from "./child.ts";
import type { Offer } from "./payments.ts";
import type { Ground, Subject } from "./subject.ts";

/** Not our treasury: what arrives there without a claim of ours is booked as somebody's lost money. */
const payee = `0x${"5e".repeat(20)}`;
const THOUSAND_ETHER = "0x3635c9adc5dea00000";

/** `plain` is without the nonce manager. */
export async function startReference(
  ground: Ground,
  offer: Offer,
  wiring: "with nonce manager" | "plain" = "with nonce manager",
): Promise<Subject> {
  const { dataDir, rpcUrl, chainId, blockTimeSeconds } = ground;
  const privateKey = generatePrivateKey();
  const signer = privateKeyToAccount(privateKey).address;
  await rpc(rpcUrl, "anvil_setBalance", [signer, THOUSAND_ETHER], 20_000);
  const port = await freePort();
  const keyFile = join(dataDir, "reference-key"); // arguments can be read by everybody on the machine
  await writeFile(keyFile, privateKey, { mode: 0o600 });
  const baseUrl = `http://127.0.0.1:${port}`;
  const places = ["--port", String(port), "--rpc-url", rpcUrl, "--key-file", keyFile];
  const chain = ["--chain-id", String(chainId), "--block-time-ms", String(blockTimeSeconds * 1000)];
  const child = await startChild({
    name: "reference",
    args: ["bench/reference-server.ts", ...places, ...chain, ...(wiring === "plain" ? ["--plain"] : [])],
    readyUrl: `${baseUrl}/supported`,
    logFile: join(dataDir, "reference.log"),
    home: dataDir,
  });
  return {
    name: "reference",
    child,
    baseUrl,
    verifyPath: "/verify",
    settlePath: "/settle",
    signers: [signer],
    offer: { ...offer, requirements: { ...offer.requirements, payTo: checksum(address(payee)) } },
  };
}
