import { readFile } from "node:fs/promises";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";

describe("docs/webhooks.md", () => {
  it("has a test vector that the stock signer makes", async () => {
    const text = await readFile(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");
    const row = (name: string) => new RegExp(`^\\| ${name} \\| \`(.+)\` \\|$`, "m").exec(text)?.[1] ?? "";
    const at = new Date(Number(row("webhook-timestamp")) * 1_000);
    expect(new Webhook(row("secret")).sign(row("webhook-id"), at, row("body"))).toBe(
      row("webhook-signature"),
    );
  });
});
