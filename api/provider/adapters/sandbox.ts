import { hkdfSync } from "node:crypto";
import { z } from "zod";
import { fault } from "../../http/faults.ts";
import type { SafeFetch } from "../../http/safe-fetch.ts";
import {
  type ProviderAdapter,
  ProviderProblem,
  type ProviderStatus,
  providerStates,
  type RefundStatus,
} from "../port.ts";
import { verifySigned } from "./standard-webhook.ts";

/** What the sandbox provider and this deployment share; both sides derive it. */
export interface SandboxAccess {
  /** What we send as a bearer token. */
  readonly apiKey: string;
  /** `whsec_…`: its callbacks are signed with it. */
  readonly webhookSecret: string;
}

/** The same secret gives the same access, in every process and after a restart. */
export function sandboxAccess(masterSecret: string | Uint8Array): SandboxAccess {
  const derive = (label: string) => Buffer.from(hkdfSync("sha256", masterSecret, "", label, 32));
  return {
    apiKey: derive("farebox sandbox provider key v1").toString("base64url"),
    webhookSecret: `whsec_${derive("farebox sandbox provider callbacks v1").toString("base64")}`,
  };
}

const Units = z
  .string()
  .regex(/^\d{1,39}$/)
  .transform(BigInt);
const Clearing = z
  .object({
    id: z.string(),
    state: z.enum(providerStates),
    received: Units,
    failure: z.string().nullable(),
  })
  .transform(({ id, ...rest }): ProviderStatus => ({ reference: id, ...rest }));
const Refund = z
  .object({ id: z.string(), state: z.enum(["pending", "succeeded", "failed"]) })
  .transform(({ id, state }): RefundStatus => ({ reference: id, state }));
const Event = z.object({ type: z.string(), data: z.object({ id: z.string() }) });

/** What an intent's metadata may ask of the simulation; `by-command` where it says nothing else. */
const OUTCOME_KEY = "sandbox.outcome";
const Outcome = z.enum(["by-command", "paid", "declined", "not-settled"]).catch("by-command");

export interface SandboxProvider extends ProviderAdapter {
  /** The payer pays what is asked for. */
  pay(reference: string): Promise<ProviderStatus>;
}

/** The provider of sandbox deployments: a simulator in a process of its own, spoken to over HTTP. */
export function sandboxProvider({
  baseUrl,
  access,
  fetch,
}: {
  readonly baseUrl: string;
  readonly access: SandboxAccess;
  readonly fetch: SafeFetch;
}): SandboxProvider {
  async function ask<T>(schema: z.ZodType<T>, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${baseUrl}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${access.apiKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new ProviderProblem(`the sandbox provider: ${answer.problem}`);
    const text = answer.body.toString("utf8");
    if (answer.status !== 200) throw new ProviderProblem(`the sandbox provider: ${answer.status} ${text}`);
    return schema.parse(JSON.parse(text));
  }
  const clearing = (reference: string) => `/clearings/${encodeURIComponent(reference)}`;
  return {
    name: "sandbox",
    async verifyWebhook(raw, headers, now) {
      const { id, content } = verifySigned({ raw, headers, now, secret: access.webhookSecret });
      const event = Event.safeParse(content);
      if (!event.success) throw fault("validation_failed", {}, event.error);
      return [{ id, type: event.data.type, reference: event.data.data.id }];
    },
    createClearing: ({ id, asset, amount, metadata }) =>
      ask(Clearing, "/clearings", {
        reference: id,
        asset,
        amount: String(amount),
        outcome: Outcome.parse(metadata[OUTCOME_KEY]),
      }),
    settle: (reference) => ask(Clearing, `${clearing(reference)}/settle`, {}),
    close: (reference) => ask(Clearing, `${clearing(reference)}/close`, {}),
    refund: ({ id, reference, amount }) =>
      ask(Refund, `${clearing(reference)}/refunds`, { reference: id, amount: String(amount) }),
    getStatus: (reference) => ask(Clearing, clearing(reference)),
    getRefund: (reference) => ask(Refund, `/refunds/${encodeURIComponent(reference)}`),
    pay: (reference) => ask(Clearing, `${clearing(reference)}/pay`, {}),
  };
}
