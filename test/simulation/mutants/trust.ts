/** Mistakes about whom to believe, and what to tell. */
import type { Mutant } from "./mutants.ts";

export const trust: readonly Mutant[] = [
  {
    name: "timeout-told-as-failure",
    changes: [
      {
        file: "settlement/settle/settle.ts",
        from: '  const undecided = isOpen(row) || row.state === "review";',
        to: '  const undecided = row.state === "review";',
      },
    ],
    seed: 51,
  },
  {
    name: "unknown-commit-told-as-refusal",
    changes: [
      {
        file: "settlement/settle/answer.ts",
        from: 'const unknown = error.code === "commit_unknown";',
        to: "const unknown = false;",
      },
    ],
    seed: 557,
  },
  {
    name: "grant-without-compare-and-set",
    changes: [
      {
        file: "settlement/settle/grant.ts",
        from: "WHERE claim.claim_key = asked.claim_key AND asked.is_free",
        to: "WHERE claim.claim_key = asked.claim_key",
      },
    ],
    seed: 28,
  },
  {
    name: "grant-before-credit",
    changes: [
      {
        file: "settlement/settle/settle.ts",
        from: 'if (row.creditState !== "none") return grantOrRefuse(settling, it, row);',
        to: 'if (row.creditState !== "none" || row.state === "submitting") return settledAnswer(engine, row);',
      },
    ],
    seed: 28,
  },
  {
    name: "grant-kept-on-a-reset-socket",
    changes: [
      {
        file: "settlement/settle/grant.ts",
        from: "eq(claim.grantedTo, requestId)));",
        to: 'eq(claim.grantedTo, "nobody")));',
      },
    ],
    seed: 584,
  },
  {
    name: "signature-inside-the-key",
    changes: [
      {
        file: "settlement/verify/understand.ts",
        from: "    nonce: authorization.nonce,\n",
        to: `    nonce: \`\${authorization.nonce.slice(0, 60)}\${authorization.signature.slice(-6)}\` as Hash,\n`,
      },
    ],
    seed: 1,
  },
  {
    name: "payer-left-out-of-the-key",
    changes: [
      {
        file: "scheme/claim-key.ts",
        from: "nonceDomain.slice(2) + payer.slice(2) + ",
        to: "nonceDomain.slice(2) + ",
      },
    ],
    seed: 1,
  },
  {
    name: "repeat-without-signature",
    changes: [
      {
        file: "settlement/verify/understand.ts",
        from: '  if ("reason" in authentic) return refuse(authentic.reason, authentic.message, payer);\n',
        to: '  if ("reason" in authentic && !known.claim) return refuse(authentic.reason, authentic.message, payer);\n',
      },
      {
        file: "settlement/verify/understand.ts",
        from: "signature: authentic.signature };",
        to: 'signature: "reason" in authentic ? authorization.signature : authentic.signature };',
      },
    ],
    seed: 356,
  },
  {
    name: "claim-before-signature-check",
    changes: [
      {
        file: "settlement/verify/understand.ts",
        from: '  if (code === "0x") return forged(authorization);',
        to: '  if (code === "0x") return { signature: authorization.signature, payerHasCode: false };',
      },
      {
        file: "settlement/verify/examine.ts",
        from: "    checkMoney(it, option, state);\n",
        to: "    null;\n",
      },
    ],
    seed: 56,
  },
  {
    name: "binding-ignored",
    changes: [
      {
        file: "settlement/settle/settle.ts",
        from: "  if (known.fingerprint !== it.fingerprint()) return boundElsewhereAnswer(settling.engine, known);\n",
        to: "",
      },
      {
        file: "settlement/settle/settle.ts",
        from: "  if (row.fingerprint !== it.fingerprint()) return boundElsewhereAnswer(engine, row);\n",
        to: "",
      },
    ],
    seed: 1135,
  },
  {
    name: "verdict-kept-by-claim",
    changes: [
      {
        file: "settlement/verify/short-memory.ts",
        from: "  return JSON.stringify([payloadHash(), target, selection, accepted]);",
        to: `  const { nonce, from } = (payload as { authorization: { nonce: string; from: string } }).authorization;
  return nonce + from;`,
      },
      {
        file: "settlement/verify/short-memory.ts",
        from: "function keyOf({ payloadHash, target, selection, accepted }: PaymentRequest)",
        to: "function keyOf({ payload }: PaymentRequest)",
      },
    ],
    only: ["forged-signature"],
    seed: 293,
  },
];
