import type { Challenge } from "#facilitator";
import { parseAddress } from "#kernel/bytes";
import type { FetchProblem } from "../http/safe-fetch.ts";
import type { ResourceRow } from "./present.ts";

/** Something that is wrong with an endpoint, or would keep agents away from it: what to change. */
export interface Finding {
  readonly code: FindingCode;
  readonly detail: string;
}
export const findingCodes = [
  "probe_not_402",
  "probe_method_withheld",
  "probe_no_challenge",
  "probe_option_missing",
  "probe_price_mismatch",
  "probe_pay_to_mismatch",
  "probe_url_mismatch",
  "probe_target_changed",
  "probe_schema_changed",
  "probe_timeout",
  "probe_unreachable",
  "probe_blocked_address",
  "probe_deferred",
  "input_schema_missing",
] as const;
export type FindingCode = (typeof findingCodes)[number];

/** An endpoint as it was registered, or is about to be. */
export interface Endpoint {
  readonly url: string;
  readonly extensions: ResourceRow["extensions"];
  readonly options: readonly EndpointOption[];
}
export interface EndpointOption {
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  readonly amount: string;
}
export interface Probed {
  /** Null when no answer came. */
  readonly status: number | null;
  /** Whether an agent could pay here what was registered. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly challenge: Challenge | null;
}

export interface Asking {
  /** Whether the host names the merchant. Anybody may register anybody's URL, so only such a host is sent a method that
   *  changes something, or has a tool called that may; only then is this asked. */
  readonly isOwnHost: () => Promise<boolean>;
  readonly stopping?: AbortSignal;
}

/** What asks for money, as the sentences call it. */
export type Asker = "402" | "PaymentRequired of the tool";

/** One option that fits is enough; else the nearest one tells what is wrong. */
export function compareOptions(
  asker: Asker,
  expected: readonly EndpointOption[],
  offered: Challenge["options"],
): readonly Finding[] {
  const pairs = expected.flatMap((ours) =>
    offered
      .filter(
        ({ scheme, network, asset }) =>
          scheme === "exact" && network === ours.network && isSame(asset, ours.asset),
      )
      .map((theirs) => ({
        ours,
        isPrice: theirs.amount === ours.amount,
        isPayee: isSame(theirs.payTo, ours.payTo),
      })),
  );
  if (pairs.some(({ isPrice, isPayee }) => isPrice && isPayee)) return [];
  const nearest = pairs.find(({ isPayee }) => isPayee) ?? pairs[0];
  if (!nearest) return [optionMissing(asker, expected)];
  const { ours, isPrice, isPayee } = nearest;
  return [...(isPrice ? [] : [priceMismatch(asker, ours)]), ...(isPayee ? [] : [payeeMismatch(asker, ours)])];
}

function isSame(address: string, ours: string): boolean {
  return parseAddress(address) === parseAddress(ours);
}

function optionMissing(asker: Asker, [first]: readonly EndpointOption[]): Finding {
  const example = first ? ` Offer scheme exact on ${first.network} with the asset ${first.asset}.` : "";
  return {
    code: "probe_option_missing",
    detail: `No option of the ${asker} is on a network and asset of the registration.${example}`,
  };
}

function priceMismatch(asker: Asker, { amount, network }: EndpointOption): Finding {
  return {
    code: "probe_price_mismatch",
    detail: `The ${asker} asks another amount than was registered. Ask for ${amount} atomic units on ${network}, or register the new price.`,
  };
}

function payeeMismatch(asker: Asker, { payTo, network }: EndpointOption): Finding {
  return {
    code: "probe_pay_to_mismatch",
    detail: `The ${asker} pays somebody else, so nothing of it could be settled here. Set payTo to ${payTo} on ${network}.`,
  };
}

/** `advice`: how to be in time. */
export function unanswered(problem: FetchProblem, url: string, advice: string): Finding {
  switch (problem) {
    case "timeout":
      return {
        code: "probe_timeout",
        detail: `No answer within 10 seconds. ${advice}`,
      };
    case "unreachable":
      return {
        code: "probe_unreachable",
        detail: `Nobody could be reached at ${new URL(url).host}. Check its name, its certificate, and that it is open to the internet.`,
      };
    case "blocked-address":
      return {
        code: "probe_blocked_address",
        detail: "The host does not lead to a public address. Register one that agents can reach.",
      };
    case "url-not-allowed":
      return {
        code: "probe_blocked_address",
        detail: "Only https on port 443 or 8443, without a user name, is asked. Register such a URL.",
      };
  }
}

export function inputSchema({ extensions }: Endpoint): readonly Finding[] {
  if (extensions.bazaar !== undefined) return [];
  return [
    {
      code: "input_schema_missing",
      detail:
        "Without extensions.bazaar agents do not know what to send: a paid call may be malformed. Register info.input with a schema.",
    },
  ];
}
