/** Mistakes about what comes before what, and who may do it. */
import type { Mutant } from "./mutants.ts";

export const order: readonly Mutant[] = [
  {
    name: "begins-at-the-head",
    changes: [
      {
        file: "settlement/observer/observer.ts",
        from: "  const from = await chain.finalized();",
        to: "  const from = await chain.head();",
      },
    ],
    seed: 262,
  },
  {
    name: "send-before-persist",
    changes: [
      {
        file: "settlement/lane/submit.ts",
        from: "  const signed = await lane.signer.sign(lane.chain.row, { nonce, calls, gasLimit, ...fees });",
        to: `  const signed = await lane.signer.sign(lane.chain.row, { nonce, calls, gasLimit, ...fees });
  await lane.chain.send(signed.raw);`,
      },
    ],
    seed: 4,
  },
  {
    name: "replacement-sent-before-persist",
    changes: [
      {
        file: "settlement/lane/tend.ts",
        from: "await lane.signer.sign(row, request);",
        to: "await lane.signer.sign(row, request);\n  await lane.chain.send(signed.raw);",
      },
    ],
    seed: 53,
  },
  {
    name: "never-sent-again",
    changes: [{ file: "settlement/lane/tend.ts", from: "  await lane.chain.send(last.raw);\n", to: "" }],
    seed: 185,
  },
  {
    name: "nonce-reused-after-timeout",
    changes: [
      {
        file: "settlement/lane/submit.ts",
        from: '  await engine.checkpoint("sent");',
        to: `  if (result === "unknown") await engine.loopDb.pool.execute(sql\`UPDATE signer SET next_nonce = \${nonce}
    WHERE chain_id = \${lane.chain.row.chainId} AND next_nonce = \${nonce + 1}\`);
  await engine.checkpoint("sent");`,
      },
    ],
    seed: 117,
  },
  {
    name: "no-fence",
    changes: [{ file: "settlement/lane/lane.ts", from: "        eq(signerTable.fence, fence),\n", to: "" }],
    only: ["stall", "interleaved-transaction"],
    seed: 2,
  },
  {
    name: "slot-closed-before-final",
    changes: [
      {
        file: "settlement/lane/mined.ts",
        from: "lte(slot.minedBlock, at.finalizedNumber)",
        to: "lte(slot.minedBlock, at.cursorNumber)",
      },
    ],
    seed: 1479,
  },
  {
    name: "no-second-look",
    changes: [
      {
        file: "settlement/lane/dispatch.ts",
        from: "else if (isTimely(chain, claim, state) && !state.used && state.transfer.ok) good.push({ claim, call });",
        to: "else if (state) good.push({ claim, call });",
      },
    ],
    seed: 3563,
  },
  {
    name: "revert-is-the-end",
    changes: [
      {
        file: "settlement/claim/refuse.ts",
        from: '      to: "failed-watch",\n      cause: reason ?? "failed",',
        to: '      to: "cancelled",\n      cause: reason ?? "failed",',
      },
    ],
    seed: 1931,
  },
  {
    name: "expiry-by-local-clock",
    changes: [
      {
        file: "settlement/observer/final.ts",
        from: "const due = await lookForDue(engine, chain, view, block);",
        to: `const now = { ...block, timestamp: Math.floor(engine.clock.now().getTime() / 1000) };
  const due = await lookForDue(engine, chain, view, now);`,
      },
      {
        file: "settlement/observer/final.ts",
        from: "endExpired(engine, open, view, block)",
        to: "endExpired(engine, open, view, now)",
      },
    ],
    seed: 275,
  },
  {
    name: "expiry-before-final",
    changes: [
      {
        file: "settlement/observer/final.ts",
        from: "  if (at.finalizedNumber < finalized.number) return [];\n",
        to: "",
      },
      {
        file: "settlement/observer/final.ts",
        from: "const due = await lookForDue(engine, chain, view, block);",
        to: `const head = await chain.head();
  const due = await lookForDue(engine, chain, view, head);`,
      },
      {
        file: "settlement/observer/final.ts",
        from: "endExpired(engine, open, view, block)",
        to: "endExpired(engine, open, view, head)",
      },
    ],
    only: ["reorg", "late-inclusion"],
    seed: 47,
  },
  {
    name: "spent-before-final",
    changes: [
      {
        file: "settlement/observer/final.ts",
        from: "lte(claim.spentBlock, at.finalizedNumber),",
        to: "lte(claim.spentBlock, at.cursorNumber),",
      },
    ],
    only: ["cancel", "reorg"],
    seed: 30,
  },
  {
    name: "facts-outside-their-transaction",
    changes: [
      {
        file: "settlement/claim/claim.ts",
        from: "  await outbox.append(tx, facts);",
        to: "  await engine.loopDb.tx((other) => outbox.append(other, facts));",
      },
    ],
    seed: 284,
  },
];
