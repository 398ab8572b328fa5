import { jsx } from "hono/jsx";
import { expect, it } from "vitest";
import { Transaction } from "../../../api/dashboard/view/shown.tsx";
import { type Viewer, ViewerContext } from "../../../api/dashboard/view/visit.ts";

const hash = `0x${"ab".repeat(32)}`;
const viewer: Viewer = {
  ...{
    merchantName: "Shop",
    suspensionReason: null,
    keyId: "key_1",
    csrfToken: "t",
    refused: null,
    place: "payments",
    places: [],
  },
  drawn: new Map(),
  newKey: () => "req_1",
  may: () => true,
  explorerOf: (chain) => (chain === "base" ? "https://basescan.org" : null),
};
const shown = (chain: string | null) =>
  String(jsx(ViewerContext.Provider, { value: viewer }, jsx(Transaction, { hash, chain })));

it.each([
  ["base", 1],
  ["local", 0],
  [null, 0],
])("a transaction of %s can be looked up where somebody keeps an explorer", (chain, links) => {
  const text = shown(chain);
  expect(text).toContain(hash);
  expect(text.split(`href="https://basescan.org/tx/${hash}"`).length - 1).toBe(links);
});
