import { readFileSync } from "node:fs";
import { openDatabase } from "#store";
import { discoverPayables } from "../facilitator/payable/discover.ts";
import { chainRow } from "../facilitator/chain/registry.ts";
import { address } from "#kernel/bytes";
import { word } from "./listings.ts";
const url = readFileSync("/tmp/dsc/url2", "utf8").trim();
const db = openDatabase({ url, log: { info() {}, warn() {}, error() {} }, name: "x", maxConnections: 2 });
const base = chainRow({ slug: "base", chainId: 8453, rpcUrls: ["http://127.0.0.1:1"], treasury: `0x${"a1".repeat(20)}` });
const rails = base.tokens.map((token) => ({ chain: base, rail: { ok: true as const, token, domain: { name: "n", version: "2", chainId: base.chainId, verifyingContract: address(token.contract) }, hasBytesOverload: true } }));
let log: string[] = [];
const pool = new Proxy(db.pool, { get(t, k, r) { if (k !== "execute") return Reflect.get(t, k, r); return async (q: unknown) => { const b = performance.now(); const x = await (t as any).execute(q); log.push(`${(performance.now() - b).toFixed(1)}ms/${x.rows.length}`); return x; }; } });
const wrapped = { ...db, pool } as typeof db;
const qs: Record<string, object> = { most: { query: word(0) }, freq: { query: word(8) }, tenth: { query: word(30) }, two: { query: `${word(1)} ${word(5)}` }, fr: { query: `${word(2)} ${word(800)}` }, three: { query: `${word(3)} ${word(9)} ${word(27)}` }, price: { query: word(20), maxUsdPrice: 10_000n }, live: { query: word(12), live: true, network: "eip155:8453" }, third: { query: word(15), offset: 40 }, none: {} };
for (let r = 0; r < 3; r++) for (const [n, q] of Object.entries(qs)) { log = []; const b = performance.now(); await discoverPayables(wrapped, rails, { kinds: ["resource"], limit: 20, offset: 0, count: "page", ...q }); if (r === 2) console.log(n.padEnd(8), (performance.now() - b).toFixed(1), log.join(" ")); }
await db.close();
