import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { type ProofProblem, problemOfProof } from "#api";
import { ConfigProblem } from "../config.ts";
import { say } from "./output.ts";

const sentences: Readonly<Record<ProofProblem, string>> = {
  "not-a-proof": "This is no settlement proof: GET /v1/payments/{id}/proof.json answers one.",
  "digest-differs": "The proof was changed: it does not have the digest that it names.",
  "other-key": "The proof was signed with another key than the one given.",
  "bad-signature": "The proof was not signed with the key that it names.",
};

/** `farebox proof verify`: checks a settlement proof; asks nobody. */
export function addProofCommands(program: Command): void {
  program
    .command("proof")
    .description("settlement proofs")
    .command("verify <file>")
    .description("check a proof.json offline; exit 1 when it does not hold")
    .option("--key <base64>", "the key it must be signed with: publicKey of /.well-known/farebox-proof-key")
    .action(verify);
}

async function verify(file: string, { key }: { readonly key?: string }): Promise<void> {
  const document = parse(await readText(file));
  const problem = problemOfProof(document, key ?? null);
  if (problem) {
    say(sentences[problem]);
    process.exitCode = 1;
    return;
  }
  const { proof, publicKey } = document as { readonly proof: Proof; readonly publicKey: string };
  say(`Holds: ${proof.paymentIntentId}, ${proof.amount.amount} ${proof.amount.asset}.`);
  for (const { transactionHash, logIndex } of proof.transfers)
    say(`Paid on ${proof.network ?? proof.chain} by ${transactionHash}, log ${logIndex}.`);
  say(`Signed with ${publicKey}${key === undefined ? " (not compared with any: --key)" : ""}.`);
}

interface Proof {
  readonly paymentIntentId: string;
  readonly amount: { readonly amount: string; readonly asset: string };
  readonly chain: string;
  readonly network: string | null;
  readonly transfers: readonly { readonly transactionHash: string; readonly logIndex: number }[];
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw new ConfigProblem(`${file} cannot be read.`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
