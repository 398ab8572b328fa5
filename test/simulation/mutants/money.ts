/** Mistakes about what proves a payment, and how it is booked. */
import type { Mutant } from "./mutants.ts";

export const money: readonly Mutant[] = [
  {
    name: "credit-keyed-by-transaction",
    changes: [
      {
        file: "settlement/observer/credit.ts",
        from: 'fixed(eq(claim.creditState, "none")),',
        to: 'fixed(eq(claim.creditState, "none")), isOurs,',
      },
    ],
    seed: 9,
  },
  {
    name: "credit-by-receipt-status",
    changes: [
      {
        file: "settlement/lane/mined.ts",
        from: "    const { blockNumber, blockHash, txHash, gasUsed, effectiveGasPrice } = receipt;",
        to: `    const { blockNumber, blockHash, txHash, gasUsed, effectiveGasPrice } = receipt;
    if (receipt.succeeded) await engine.loopDb.pool.execute(sql\`UPDATE claim SET state = 'included', credit_state = 'credited', version = version + 1,
      included_block = \${blockNumber}, included_hash = decode(\${blockHash.slice(2)}, 'hex'), included_tx = decode(\${txHash.slice(2)}, 'hex')
      WHERE state = 'submitting' AND claim_key IN (SELECT claim_key FROM slot_item WHERE slot_id = \${id})\`);`,
      },
    ],
    seed: 85,
  },
  {
    name: "credit-of-another-amount",
    changes: [
      {
        file: "settlement/observer/credit.ts",
        from: "    eq(claim.amount, chainTransfer.amount),\n",
        to: "",
      },
      {
        file: "settlement/observer/observe.ts",
        from: `sql\`(\${claim.amount} <> paid.amount OR \${claim.payTo} <> paid.recipient)\``,
        to: `sql\`\${claim.payTo} <> paid.recipient\``,
      },
    ],
    seed: 228,
  },
  {
    name: "any-use-of-a-nonce-pays",
    changes: [
      {
        file: "settlement/claim/proof.ts",
        from: `\n    AND \${chainTransfer.amount} = \${claim.amount} AND \${chainTransfer.recipient} = \${claim.payTo}`,
        to: "",
      },
    ],
    only: ["spent-first", "lagging-view"],
    seed: 100,
  },
  {
    name: "credit-of-a-block-that-left",
    changes: [
      {
        file: "settlement/observer/credit.ts",
        from: `    eq(chainTransfer.chainId, chainId),
    fixed(eq(chainTransfer.canonical, true)),
    sql`,
        to: `    eq(chainTransfer.chainId, chainId),
    sql`,
      },
    ],
    seed: 170,
  },
  {
    name: "used-taken-as-paid",
    changes: [
      {
        file: "settlement/verify/examine.ts",
        from: '  return paid ? { kind: "paid" } : { kind: "elsewhere", block };',
        to: '  return paid || block ? { kind: "paid" } : { kind: "elsewhere", block };',
      },
    ],
    seed: 15,
  },
  {
    name: "no-reversal",
    changes: [
      {
        file: "settlement/observer/reorg.ts",
        from: "  await reverseCredits(engine, tx, row, height);\n",
        to: "",
      },
    ],
    seed: 212,
  },
  {
    name: "reversal-on-lag",
    changes: [
      {
        file: "settlement/observer/rewind.ts",
        from: "  if (!chain.row.isLocal) return at;",
        to: `  const common = await commonAncestor(engine, chain, head.number);
  if (!chain.row.isLocal) return common && common !== "unsaid" ? moveBack(engine, chain, at, common) : at;`,
      },
    ],
    only: ["lagging-view"],
    seed: 31,
  },
  {
    name: "unmatched-kept-after-reorg",
    changes: [
      { file: "settlement/observer/reorg.ts", from: "  await voidUnmatched(tx, row, height);\n", to: "" },
    ],
    seed: 96,
  },
  {
    name: "epoch-left-out",
    changes: [
      {
        file: "settlement/observer/reorg.ts",
        from: `creditEpoch: sql\`\${claim.creditEpoch} + 1\``,
        to: "creditEpoch: claim.creditEpoch",
      },
    ],
    seed: 212,
  },
  {
    name: "final-by-height-alone",
    changes: [
      {
        file: "settlement/observer/final.ts",
        from: "lte(claim.includedBlock, at.finalizedNumber),",
        to: "lte(claim.includedBlock, at.cursorNumber),",
      },
    ],
    seed: 212,
  },
  {
    name: "batch-taken-as-paid",
    changes: [
      {
        file: "settlement/lane/mined.ts",
        from: "  if (items.length === 0) return [];\n",
        to: `  if (items.length === 0) return [];
  await engine.loopDb.pool.execute(sql\`UPDATE claim SET state = 'included', credit_state = 'credited', version = version + 1,
    included_block = slot.mined_block, included_hash = slot.mined_hash, included_tx = slot.mined_tx FROM slot_item JOIN slot ON slot.id = slot_item.slot_id
    WHERE claim.state = 'submitting' AND slot_item.claim_key = claim.claim_key AND slot.mined_block IS NOT NULL AND slot_item.open\`);
`,
      },
    ],
    seed: 44,
  },
  {
    // A second credit, after a reorganisation, is granted to whoever waits for it, whoever was told of the first.
    name: "grants-anew",
    changes: [
      {
        file: "settlement/observer/credit.ts",
        from: `CASE WHEN \${claim.grantedAt} IS NULL THEN place.grantee ELSE \${claim.grantedTo} END`,
        to: `coalesce(place.grantee, \${claim.grantedTo})`,
      },
      {
        file: "settlement/observer/credit.ts",
        from: `CASE WHEN \${claim.grantedAt} IS NULL AND place.grantee IS NOT NULL THEN now() ELSE \${claim.grantedAt} END`,
        to: `CASE WHEN place.grantee IS NOT NULL THEN now() ELSE \${claim.grantedAt} END`,
      },
    ],
    only: ["reorg"],
    seed: 143,
  },
];
