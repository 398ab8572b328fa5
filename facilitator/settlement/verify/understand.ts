import { type Address, type Hash, parseAddress } from "#kernel/bytes";
import type { Crowd } from "#kernel/crowd";
import { mulDivHalfEven, parseAtomic } from "#kernel/money";
import type { LiveRail } from "../../chain/port.ts";
import type { PaymentOption } from "../../payable/payable.ts";
import type { FoundPayable } from "../../payable/row.ts";
import { claimKey, fingerprint, schemeFor } from "../../scheme/index.ts";
import type { Authorization, Scheme, SignatureVerdict } from "../../scheme/port.ts";
import type { Reason, Refusal } from "../../scheme/reasons.ts";
import type { KnownClaim } from "../claim/claim.ts";
import type { OpenChain } from "../engine.ts";
import { paidBy } from "./bound.ts";
import type { OptionSelection, PaymentRequest } from "./request.ts";
import type { DemandCalls } from "./spare-calls.ts";

/** A request as far as its bytes, our rows and the curve can tell; nothing has been asked of the chain, save the code
 *  behind a signature that recovers to somebody else. */
export interface Understood {
  readonly request: PaymentRequest;
  readonly payable: FoundPayable;
  readonly open: OpenChain;
  readonly rail: LiveRail;
  readonly scheme: Scheme;
  readonly authorization: Authorization;
  readonly payerHasCode: boolean;
  readonly claimKey: Hash;
  /** Only asked for where a claim exists or is made: a fresh verify has no use for it. */
  readonly fingerprint: () => Hash;
  readonly known: KnownClaim;
}

export type Understanding =
  | { readonly kind: "understood"; readonly it: Understood }
  | {
      readonly kind: "refused";
      readonly refusal: Refusal;
      readonly payer: Address | null;
      readonly network: string;
    }
  | { readonly kind: "unknown-payable"; readonly message: string };

export interface Reading {
  /** Requests that are not understood so far: most of them will be read on the chain, and one read serves many. */
  readonly crowd: Crowd;
  readonly chains: ReadonlyMap<number, OpenChain>;
  readonly demandCalls: DemandCalls;
  readonly findPayable: (target: PaymentRequest["target"]) => Promise<FoundPayable | null>;
  readonly findClaim: (lookup: {
    claimKey: Hash;
    chainId: number;
    token: Address;
    payer: Address;
  }) => Promise<KnownClaim>;
  /** Whether a claim was made with this very signature. */
  readonly isAsClaimed: (claimKey: Hash, authorization: Authorization) => Promise<boolean>;
}

/** Steps S0 and S1 of settlement.md, and the signature: everything that neither goes stale nor needs the chain.
 *  Refusals come in the order of x402.md §6.1. Faults: `database_unavailable`, `chain_unavailable`, and of verify
 *  `rate_limited`. */
export function understand(reading: Reading, request: PaymentRequest): Promise<Understanding> {
  return reading.crowd.come(() => understandOne(reading, request));
}

async function understandOne(reading: Reading, request: PaymentRequest): Promise<Understanding> {
  const { selection } = request;
  const refuse = (reason: Reason, message: string, payer: Address | null = null): Understanding => ({
    kind: "refused",
    refusal: { reason, message },
    payer,
    network: selection.network,
  });

  const way = chooseWay(reading.chains, request);
  if ("reason" in way) return refuse(way.reason, way.message);
  const { open, rail, scheme } = way;

  const authorization = scheme.read(request.payload);
  if ("reason" in authorization) return refuse(authorization.reason, authorization.message);
  const { payer } = authorization;
  const token = rail.token.contract;
  const key = claimKey({
    chainId: open.chain.row.chainId,
    nonceDomain: scheme.nonceDomain(token),
    payer,
    nonce: authorization.nonce,
  });

  const payableFound = reading.findPayable(request.target);
  const claimFound = reading.findClaim({ claimKey: key, chainId: open.chain.row.chainId, token, payer });
  const [judged, found, known] = await Promise.all([
    authenticate(reading, way, authorization),
    payableFound,
    claimFound,
  ]);
  const { claim } = known;
  const payable = await paidBy({ target: request.target, found, claim, findPayable: reading.findPayable });
  if (!payable) return { kind: "unknown-payable", message: unknownPayable(request.target) };
  const wasClaimed = known.claim !== null && "reason" in judged;
  const authentic =
    wasClaimed && (await reading.isAsClaimed(key, authorization)) ? asClaimed(authorization) : judged;
  if ("reason" in authentic) return refuse(authentic.reason, authentic.message, payer);

  const signed: Authorization = { ...authorization, signature: authentic.signature };
  let print: Hash | null = null;
  return {
    kind: "understood",
    it: {
      request,
      payable,
      open,
      rail,
      scheme,
      authorization: signed,
      payerHasCode: authentic.payerHasCode,
      claimKey: key,
      fingerprint: () => {
        const { chainId } = open.chain.row;
        print ??= fingerprint({ authorization: signed, payableId: payable.id, token, chainId });
        return print;
      },
      known,
    },
  };
}

/** What was claimed is a repeat only for what it pays: another price or payee may be asked for by now. Null when these are the
 *  terms that were signed. */
export function otherTerms({ request: { selection }, authorization }: Understood): Refusal | null {
  const isSame =
    parseAtomic(selection.amount) === authorization.value &&
    parseAddress(selection.payTo) === authorization.payTo;
  if (isSame) return null;
  return {
    reason: "invalid_payment_requirements",
    message: `This authorization pays ${authorization.value} atomic units to ${authorization.payTo}; the option asks for ${quoted(selection.amount)} to ${quoted(selection.payTo)}. Sign a fresh one for it.`,
  };
}

interface Way {
  readonly open: OpenChain;
  readonly rail: LiveRail;
  readonly scheme: Scheme;
}

/** Chain, token and scheme that the selection names, if we serve them. */
function chooseWay(chains: Reading["chains"], { selection, accepted }: PaymentRequest): Way | Refusal {
  const family = selection.network.split(":")[0] ?? "";
  if (selection.scheme !== "exact") {
    return {
      reason: "unsupported_scheme",
      message: `Expected scheme "exact", got ${quoted(selection.scheme)}. Choose an option of the 402.`,
    };
  }
  const scheme = schemeFor(selection.scheme, family);
  const open = [...chains.values()].find(({ chain }) => chain.row.network === selection.network);
  if (!scheme || !open) {
    const served = [...chains.values()].map(({ chain }) => chain.row.network).join(", ");
    return {
      reason: "invalid_network",
      message: `The network ${quoted(selection.network)} is not served here. Served: ${served}.`,
    };
  }
  const mismatch = accepted && disagreement(selection, accepted);
  if (mismatch) return mismatch;
  const token = parseAddress(selection.asset);
  const rail = open.rails.find((row): row is LiveRail => row.ok && row.token.contract === token);
  if (!rail) {
    return {
      reason: "invalid_payment_requirements",
      message: `The asset ${quoted(selection.asset)} is not accepted on ${selection.network}. Choose an option of the 402.`,
    };
  }
  return { open, rail, scheme };
}

/** Requirements and `accepted` must select the same option: neither may smuggle in another asset, amount or payee. */
function disagreement(selection: OptionSelection, accepted: OptionSelection): Refusal | null {
  if (accepted.scheme !== selection.scheme) {
    return {
      reason: "invalid_exact_evm_scheme",
      message:
        "The accepted option and the requirements name different schemes. Send the option you signed for.",
    };
  }
  if (accepted.network !== selection.network) {
    return {
      reason: "invalid_exact_evm_network_mismatch",
      message:
        "The accepted option and the requirements name different networks. Send the option you signed for.",
    };
  }
  const same =
    isSameAddress(accepted.asset, selection.asset) &&
    isSameAddress(accepted.payTo, selection.payTo) &&
    accepted.amount === selection.amount;
  return same
    ? null
    : {
        reason: "invalid_payment_requirements",
        message:
          "The accepted option and the requirements differ in asset, amount or payTo. Send the option you signed for.",
      };
}

/** However they are written; mostly the same way, which is quickly seen. */
const isSameAddress = (a: string, b: string) => a === b || parseAddress(a) === parseAddress(b);

/** A contract wallet may have another owner by now: what it signed for a claim was judged when the claim was made. */
const asClaimed = ({ signature }: Authorization): Authentic => ({ signature, payerHasCode: true });

type Authentic = { readonly signature: Authorization["signature"]; readonly payerHasCode: boolean };

/** Routing by code: what recovers to the payer is its key's; anything else can only be right through code there. */
async function authenticate(
  { demandCalls }: Reading,
  { open, rail, scheme }: Way,
  authorization: Authorization,
): Promise<Authentic | Refusal> {
  const verdict: SignatureVerdict = scheme.checkSignature(rail.domain, authorization);
  if (verdict.kind === "refused") return verdict.refusal;
  if (verdict.kind === "recovered") return { signature: verdict.signature, payerHasCode: false };
  demandCalls(open.chain);
  const code = await open.chain.code(authorization.payer);
  if (code === "0x") return forged(authorization);
  if (!rail.hasBytesOverload) {
    return {
      reason: "unsupported_payload_type",
      message: `${rail.token.symbol} on ${open.chain.row.network} takes no signatures of contract wallets. Pay from an externally owned account.`,
    };
  }
  demandCalls(open.chain);
  const valid = await open.chain.isValidSignature(
    authorization.payer,
    verdict.digest,
    authorization.signature,
  );
  if (!valid) {
    return {
      reason: "invalid_exact_evm_signature",
      message: `The contract wallet ${authorization.payer} does not accept this signature (ERC-1271). Sign again with its own key.`,
    };
  }
  return { signature: authorization.signature, payerHasCode: true };
}

function forged({ payer, signature }: Authorization): Refusal {
  const isPlain = signature.length === 2 + 130 || signature.length === 2 + 128;
  return isPlain
    ? {
        reason: "invalid_exact_evm_signature",
        message: `The signature does not recover to the payer ${payer}. Check key, domain and every signed field, then sign again.`,
      }
    : {
        reason: "invalid_exact_evm_payload_undeployed_smart_wallet",
        message: `There is no contract at ${payer} that could check this signature. Deploy the wallet first, or pay from an externally owned account.`,
      };
}

function unknownPayable(target: PaymentRequest["target"]): string {
  return target.by === "id"
    ? `Nothing payable has the id ${quoted(target.id)}.`
    : `No resource is registered for the URL ${quoted(target.url)}. Register it, or use the facilitator URL of the resource itself.`;
}

export const quoted = (text: string) => JSON.stringify(text.slice(0, 100));

/** Our fee on an option, half to even. */
export function feeOf(option: PaymentOption, feeBps: number): bigint {
  return mulDivHalfEven(option.amount, BigInt(feeBps), 10_000n);
}
