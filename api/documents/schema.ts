import { z } from "@hono/zod-openapi";

const Amount = z.object({ amount: z.string(), asset: z.string() });

/** A transfer of the chain that paid. Addresses checksummed, the amount in atomic units. */
const ProvenTransfer = z.object({
  transactionHash: z.string(),
  logIndex: z.int(),
  blockNumber: z.int(),
  blockHash: z.string(),
  from: z.string(),
  to: z.string(),
  amount: z.string().openapi({ description: "Atomic units of the token" }),
});

/** What is signed: that this payment was settled, and where on the chain anybody can see it. */
export const SettlementProof = z
  .object({
    version: z.literal(1),
    paymentIntentId: z.string(),
    clearingTransactionId: z.string(),
    merchant: z.object({ id: z.string(), name: z.string() }),
    merchantReference: z.string().nullable(),
    amount: Amount,
    settlementAmount: Amount,
    fee: Amount,
    netAmount: Amount,
    chain: z.string(),
    network: z.string().nullable().openapi({ description: "CAIP-2" }),
    token: z.string().nullable().openapi({ description: "The token's contract" }),
    transfers: z.array(ProvenTransfer),
    ledgerEntryId: z.string().nullable(),
    completedAt: z.string(),
  })
  .openapi("SettlementProof");
export type SettlementProof = z.infer<typeof SettlementProof>;

/** Source: merchant-api.md §7. */
export const SignedProof = z
  .object({
    proof: SettlementProof,
    digest: z
      .string()
      .openapi({ description: "SHA-256 of the proof's JSON with sorted keys and no spaces, in hex" }),
    algorithm: z.literal("Ed25519"),
    publicKey: z
      .string()
      .openapi({ description: "32 bytes, base64; the same as at `/.well-known/farebox-proof-key`" }),
    signature: z.string().openapi({ description: "Over the 32 bytes of the digest, base64" }),
  })
  .openapi("SignedProof");
export type SignedProof = z.infer<typeof SignedProof>;
