/** Chromium of this machine, and a wallet in its pages that signs with a key of the test. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, expect } from "vitest";
import { checksum } from "#kernel/bytes";
import type { DevChain } from "./dev-chain.ts";
import type { Payer } from "./house.ts";
import { pictureFile } from "./pictures.ts";

/** The shell first: the same engine without a window, and pages cost a quarter less. */
const places = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const flags = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A process for all pages, not one for each site: they compile the same scripts.
  "--renderer-process-limit=1",
  "--disable-site-isolation-trials",
];

/** Fails where there is none: a page that no browser has shown is not tested. */
async function openBrowser(): Promise<Browser> {
  const executablePath = places.find((path) => existsSync(path));
  if (!executablePath)
    throw new Error("these tests need Chromium: apt-get install -y chromium-headless-shell");
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath, args: isRoot ? [...flags, "--no-sandbox"] : flags });
}

/** What opens pages: a browser, or one visitor's part of it. */
export type Opener = Pick<Browser, "newContext"> | BrowserContext;

/** One for all tests of the file, opened with the first page. */
export function sharedBrowser(): Pick<Browser, "newContext"> {
  let browser: Promise<Browser> | undefined;
  afterAll(async () => (await browser)?.close());
  return {
    async newContext(options) {
      browser ??= openBrowser();
      return (await browser).newContext(options);
    },
  };
}

/** What a page did that its policy forbids, or that went wrong in it. */
const watch = `addEventListener("securitypolicyviolation", (event) => {
  console.error("Content Security Policy violated: " + event.violatedDirective + " " + event.blockedURI);
});`;

export interface Tab {
  readonly page: Page;
  /** Errors and violations of its policy. */
  readonly faults: string[];
}

export async function openTab(browser: Opener, options: BrowserContextOptions = {}): Promise<Tab> {
  // What pulses without end is painted sixty times a second, by a processor that other tests need.
  const still = { reducedMotion: "reduce", ...options } as const;
  const context = "newContext" in browser ? await browser.newContext(still) : browser;
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  await page.addInitScript(watch);
  return { page, faults };
}

export interface TestWallet {
  /** What the page asked of it. */
  readonly asked: readonly string[];
  /** With what it was asked so last. */
  lastParams(method: string): readonly unknown[] | undefined;
  /** Declines the next request of this method. */
  decline(method: string): void;
  /** Does what the next request of this method asks for, and fails all the same. */
  lose(method: string): void;
  /** Keeps the next request of this method waiting, as a wallet does whose owner looks at it, until it is let go. */
  hold(method: string): () => void;
  /** Its owner chooses another account, or disconnects the page. */
  switchTo(payer: Payer | null): Promise<void>;
}

/** Puts a wallet into a page before it loads: announced as EIP-6963 says, or only on the window as old ones. It begins
 *  on another network and knows the test's. */
export async function giveWallet(
  page: Page,
  { dev, payer, isOld = false }: { readonly dev: DevChain; readonly payer: Payer; readonly isOld?: boolean },
): Promise<TestWallet> {
  const asked: string[] = [];
  const last = new Map<string, readonly unknown[]>();
  const declined = new Set<string>();
  const lost = new Set<string>();
  let owner = payer;
  const held = new Map<string, Promise<void>>();
  let chainId = "0x1";
  const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_requestAccounts: () => [checksum(owner.address)],
    eth_chainId: () => chainId,
    wallet_switchEthereumChain: ([wanted]) => {
      chainId = (wanted as { readonly chainId: string }).chainId;
      return null;
    },
    // Answers when it is sent, as wallets do: what must be in a block first, the page waits for.
    eth_sendTransaction: ([call]) =>
      dev.anvil.rpc("eth_sendTransaction", [
        { gas: "0x4c4b40", ...(call as Readonly<Record<string, string>>) },
      ]),
    personal_sign: ([text]) =>
      privateKeyToAccount(owner.key).signMessage({ message: { raw: text as `0x${string}` } }),
    eth_signTypedData_v4: ([, text]) =>
      privateKeyToAccount(owner.key).signTypedData(JSON.parse(String(text))),
  };
  await page.exposeFunction("askTestWallet", async (method: string, params: readonly unknown[] = []) => {
    asked.push(method);
    last.set(method, params);
    await held.get(method);
    if (declined.delete(method)) return { error: { code: 4001, message: "declined" } };
    try {
      const result = await (answers[method] ? answers[method](params) : dev.anvil.rpc(method, [...params]));
      return lost.delete(method) ? { error: { code: -32603, message: "failed to fetch" } } : { result };
    } catch (error) {
      return { error: { code: -32000, message: String(error) } };
    }
  });
  await page.addInitScript(isOld ? oldWallet : announcedWallet);
  return {
    asked,
    lastParams: (method) => last.get(method),
    decline: (method) => declined.add(method),
    lose: (method) => lost.add(method),
    hold: (method) => {
      let letGo = () => {};
      held.set(method, new Promise((resolve) => (letGo = resolve)));
      return () => {
        held.delete(method);
        letGo();
      };
    },
    switchTo: async (next) => {
      owner = next ?? payer;
      const accounts = next ? [checksum(next.address)] : [];
      await page.evaluate(
        `dispatchEvent(new CustomEvent("accounts", { detail: ${JSON.stringify(accounts)} }))`,
      );
    },
  };
}

const provider = `const provider = {
  async request({ method, params }) {
    const { result, error } = await window.askTestWallet(method, params);
    if (error) throw error;
    return result;
  },
  on(event, listener) {
    if (event === "accountsChanged") addEventListener("accounts", ({ detail }) => listener(detail));
  },
};`;
const oldWallet = `(() => { ${provider} window.ethereum = provider; })()`;
const announcedWallet = `(() => { ${provider}
  const info = { uuid: "350670db-19fa-4704-a166-e52e178b59d2", name: "Test Wallet", rdns: "example.wallet",
    icon: "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='-10 -10 20 20'%3E%3Ccircle r='9'/%3E%3C/svg%3E" };
  const announce = () => dispatchEvent(
    new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  addEventListener("eip6963:requestProvider", announce);
  announce();
})()`;

const require = createRequire(import.meta.url);

/** Serious and critical findings of the accessibility checker. Two thirds of its work are the contrasts, which need no
 *  second look where nothing has another colour. */
export async function expectAccessible({ page }: Tab, { contrast = true } = {}): Promise<void> {
  const isThere = await page.evaluate("'axe' in window");
  if (!isThere) await page.evaluate(await readFile(require.resolve("axe-core/axe.min.js"), "utf8"));
  const rules = { "color-contrast": { enabled: contrast } };
  const found = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], rules })}).then(({ violations }) => violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => id + ": " + nodes.map(({ html, any }) => html + " " + any.map((a) => a.message)).join(" | ")))`,
  )) as readonly string[];
  expect(found).toEqual([]);
}

/** No wider than a phone, a tablet, half a desk, nor a whole one; shown to people as the first and the last, where pictures
 *  are asked for. */
export async function photograph({ page }: Tab, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const [width, height, isShown] of [
    [360, 740, true],
    [820, 1180, false],
    [900, 700, false],
    [1280, 800, true],
  ] as const) {
    await page.setViewportSize({ width, height });
    const path = isShown && (await pictureFile(`${name}-${width}.png`));
    if (path) await page.screenshot({ path, fullPage: true });
    const wider = (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) as boolean;
    expect([name, width, wider]).toEqual([name, width, false]);
  }
  if (before) await page.setViewportSize(before);
}
