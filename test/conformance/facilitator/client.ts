/** A facilitator as its callers see it: `verify` and `settle` below a base URL. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Answer {
  readonly status: number;
  /** Null where it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

export interface FacilitatorClient {
  verify(body: unknown): Promise<Answer>;
  settle(body: unknown): Promise<Answer>;
  /** Addresses that pay its gas, as it says itself. */
  signers(): Promise<readonly string[]>;
}

const patientMs = 60_000;
const outageTries = 5;
const outagePauseMs = 500;

export function facilitatorAt(baseUrl: string): FacilitatorClient {
  const base = baseUrl.replace(/\/+$/, "");
  const post = async (verb: string, body: unknown): Promise<Answer> => {
    const response = await fetch(`${base}/${verb}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patientMs),
    });
    return { status: response.status, body: asObject(await response.text()) };
  };
  /** "We cannot say just now" is no verdict: the facilitator is asked again. */
  const ask = async (verb: string, body: unknown): Promise<Answer> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await post(verb, body);
      if (!isOutage(answer) || tries === outageTries) return answer;
      await sleep(outagePauseMs);
    }
  };
  return {
    verify: (body) => ask("verify", body),
    settle: (body) => ask("settle", body),
    async signers() {
      const response = await fetch(`${base}/supported`, { signal: AbortSignal.timeout(patientMs) });
      const { signers = {} } = (await response.json()) as { signers?: Record<string, readonly string[]> };
      return [...new Set(Object.values(signers).flat())];
    },
  };
}

function asObject(text: string): Answer["body"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const isOutage = ({ status, body }: Answer) =>
  status === 503 ||
  body?.invalidReason === "unexpected_verify_error" ||
  body?.errorReason === "unexpected_settle_error";
export const isValid = ({ body }: Answer) => body?.isValid === true;
export const isSuccess = ({ body }: Answer) => body?.success === true;
export const isPending = ({ body }: Answer) => body?.errorReason === "settlement_pending";

/** An answer in a few words, for the report. */
export function told({ status, body }: Answer): string {
  if (body === null) return `HTTP ${status} without JSON`;
  const said = body.isValid ?? body.success;
  const reason = body.invalidReason ?? body.errorReason ?? "";
  const transaction =
    typeof body.transaction === "string" && body.transaction !== "" ? ` ${body.transaction}` : "";
  if (typeof said !== "boolean") return `HTTP ${status} without a verdict`;
  return `${said ? "yes" : `no${reason === "" ? "" : `, ${reason}`}`}${transaction}`;
}
