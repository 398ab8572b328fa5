/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Assets } from "../assets.ts";
import type { Speech } from "../words/index.ts";
import { Page } from "./layout.tsx";

interface LandingProps {
  readonly speech: Speech;
  readonly assets: Assets;
  readonly isSandbox: boolean;
}

/** What this is, for whoever comes to its door. For developers, so in one language. */
export function LandingPage({ speech, assets, isSandbox }: LandingProps) {
  return (
    <Page title="Farebox" speech={{ ...speech, lang: "en" }} assets={assets}>
      <main class="ticket lone landing">
        <header class="stub">
          <p class="merchant">Farebox</p>
          <h1>One address, payable by people and by programs.</h1>
        </header>
        <div class="body">
          <p>
            This is a payment service: an x402 facilitator with books of its own, and a payments API for
            merchants on top of it. Stablecoins, settled on chain, to the last unit.
          </p>
          {isSandbox ? <p class="warning">A sandbox: its money is made up.</p> : null}
          <ul class="links">
            <li>
              <a href="/dashboard">Dashboard for merchants</a>
            </li>
            <li>
              <a href="/docs">API reference</a>
            </li>
            <li>
              <a href="/openapi.json">OpenAPI document</a>
            </li>
            <li>
              <a href="/llms.txt">For agents</a>
            </li>
            <li>
              <a href="/x402/resources">What is for sale</a>
            </li>
          </ul>
        </div>
      </main>
    </Page>
  );
}
