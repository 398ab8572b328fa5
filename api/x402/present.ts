import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import {
  clientNotes,
  type Discovered,
  type Payable,
  type PaymentOption,
  type Quote,
  type Reason,
  resourceType,
  type SettleAnswer,
  type SettlementStatus,
  type Supported,
  type Trust,
  type VerifyAnswer,
} from "#facilitator";
import { checksum, parseAddress } from "#kernel/bytes";
import { isId } from "#kernel/id";
import { cutText } from "#kernel/text";
import { presentPrice } from "../http/money.ts";
import type {
  DiscoveryItem,
  PaymentRequired,
  PaymentRequirements,
  Rail,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from "./schema.ts";
import { type V1Networks, v1Reasons } from "./v1.ts";
import type { WireVersion } from "./wire.ts";

const paymentIdentifier = declarePaymentIdentifierExtension(false);

/** Extensions that we implement. */
const implemented = [PAYMENT_IDENTIFIER, "bazaar"];

/** An option as the wire carries it. Addresses in EIP-55 form, because stock clients compare them with case. */
export function presentOption(option: PaymentOption, payable: Payable): PaymentRequirements {
  const { name, version } = option.domain;
  return {
    scheme: option.scheme,
    network: option.network,
    amount: option.amount.toString(),
    asset: checksum(option.asset),
    payTo: checksum(option.payTo),
    maxTimeoutSeconds: option.maxTimeoutSeconds,
    extra: {
      name,
      version,
      assetTransferMethod: option.transferMethod,
      // The default flow stays unnamed: older clients know nothing of the key.
      ...(payable.paymentFlow === "upfront" ? { paymentFlow: "upfront" } : {}),
    },
  };
}

/** What a 402 says. The same for the same row, since clients and servers compare it later. */
export function presentRequired({ payable, options }: Quote): PaymentRequired {
  const { url, description, mimeType } = payable;
  return {
    x402Version: 2,
    resource: { url, description, mimeType, ...serviceOf(payable) },
    accepts: options.map((option) => presentOption(option, payable)),
    extensions: { [PAYMENT_IDENTIFIER]: paymentIdentifier, ...payable.extensions },
  };
}

function serviceOf({ serviceName, tags, iconUrl }: Payable) {
  return {
    ...(serviceName === null ? {} : { serviceName }),
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    ...(iconUrl === null ? {} : { iconUrl }),
  };
}

/** The rail of an option, in the words of the merchant API. */
export function presentRail(option: PaymentOption): Rail {
  const contract = checksum(option.asset);
  const chainId = Number(option.network.slice("eip155:".length));
  return {
    chain: option.chain,
    asset: option.symbol,
    contract,
    payTo: checksum(option.payTo),
    transferMethod: option.transferMethod,
    domain: { ...option.domain, chainId, verifyingContract: contract },
  };
}

/** How an answer is written: the version of the caller and, for v1, the names of the networks. */
export interface Voice {
  readonly version: WireVersion;
  readonly networks: V1Networks;
  readonly baseUrl: string;
}

export function presentReason(reason: Reason, { version }: Pick<Voice, "version">): string {
  return version === 1 ? v1Reasons[reason] : reason;
}

export function presentVerify(answer: VerifyAnswer, voice: Pick<Voice, "version">): VerifyResponse {
  if (answer.outcome === "valid") return { isValid: true, payer: checksum(answer.payer) };
  const payer = answer.outcome === "invalid" ? answer.payer : null;
  return {
    isValid: false,
    invalidReason: presentReason(answer.reason, voice),
    invalidMessage: answer.message,
    ...(payer === null ? {} : { payer: checksum(payer) }),
  };
}

/** A SettleResponse. Our own fields stand under `extra`, because stock clients drop unknown keys beside it. */
export function presentSettle(answer: SettleAnswer, voice: Voice): SettleResponse {
  // Of an authorization that is bound to something else nothing is told, whatever the engine knows.
  const isForeign = answer.outcome === "bound-elsewhere";
  const { reason, message, payer, amount } = answer;
  const extra = isForeign ? {} : presentExtra(answer, voice);
  return {
    success: answer.outcome === "settled",
    ...(reason === null ? {} : { errorReason: presentReason(reason, voice) }),
    ...(message === null ? {} : { errorMessage: message }),
    transaction: isForeign ? "" : answer.transaction,
    network: voice.version === 1 ? voice.networks.toName(answer.network) : answer.network,
    ...(payer === null ? {} : { payer: checksum(payer) }),
    ...(amount === null || isForeign ? {} : { amount }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** The headers that go with it: when to come again, and that it was told before. */
export function presentHeaders({ extra, replayed }: SettleAnswer): Record<string, string> {
  const { retryAfterSeconds } = extra;
  return {
    ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
    ...(replayed ? { "Idempotent-Replayed": "true" } : {}),
  };
}

function presentExtra(answer: SettleAnswer, { baseUrl }: Voice) {
  const { paymentId, extra, replayed } = answer;
  const receiptUrl = receiptUrlOf(answer, baseUrl);
  return {
    ...(paymentId === null ? {} : { paymentId, statusUrl: `${baseUrl}/x402/settlements/${paymentId}` }),
    ...extra,
    ...(receiptUrl === null ? {} : { receiptUrl }),
    ...(replayed ? { replayed: true } : {}),
  };
}

/** The payer's receipt, a moment after the success; null where the payment gets its intent, whose id is the key to that
 *  page, only afterwards. Source: x402.md §2. */
export function receiptUrlOf({ payableId }: SettleAnswer, baseUrl: string): string | null {
  const isIntent = payableId !== undefined && isId("pi", payableId);
  return isIntent ? `${baseUrl}/checkout/${payableId}/receipt.pdf` : null;
}

export function presentStatus({ reason, payer, ...status }: SettlementStatus) {
  return {
    paymentId: status.paymentId,
    status: status.status,
    success: status.success,
    errorReason: reason,
    transaction: status.transaction,
    network: status.network,
    payer: checksum(payer),
    block: status.block,
    logIndex: status.logIndex,
    confirmations: status.confirmations,
    required: status.required,
    chargeable: status.chargeable,
  };
}

/** What a facilitator base URL can do. v1 kinds only where v1 has a name for the network. */
export function presentSupported({ networks }: Supported): SupportedResponse {
  const v2 = networks.map(({ network }) => ({ x402Version: 2, scheme: "exact", network: network as string }));
  const v1 = networks.flatMap(({ v1Name }) =>
    v1Name === null ? [] : [{ x402Version: 1, scheme: "exact", network: v1Name }],
  );
  const signers = networks.map(({ network, signers }) => [network, signers.map(shown)] as const);
  return { kinds: [...v2, ...v1], extensions: implemented, signers: Object.fromEntries(signers) };
}

function shown(account: string): string {
  const parsed = parseAddress(account);
  return parsed === null ? account : checksum(parsed);
}

/** An entry of the discovery indexes. Text of the merchant stands beside facts that the merchant cannot write. */
export function presentItem({ payable, options, trust }: Discovered, baseUrl: string): DiscoveryItem {
  const base = `${baseUrl}/x402/resources/${payable.id}`;
  return {
    resource: payable.url,
    type: resourceType(payable),
    x402Version: 2,
    accepts: options.map((option) => presentOption(option, payable)),
    lastUpdated: payable.updatedAt.toISOString(),
    description: cutText(payable.description, SHOWN),
    mimeType: payable.mimeType,
    ...serviceOf(payable),
    tags: [...payable.tags],
    extensions: { ...payable.extensions },
    id: payable.id,
    merchant: { id: payable.merchantId, name: payable.merchantName },
    price: presentPrice(payable.price),
    rails: options.map(presentRail),
    trust: presentTrust(payable, trust),
    clientNotes: clientNotes(options, trust),
    links: {
      paymentRequired: `${base}/payment-required`,
      verify: `${base}/verify`,
      settle: `${base}/settle`,
    },
  };
}

/** How much of a description agents are shown. Source: agents.md §8. */
const SHOWN = 300;

function presentTrust({ url }: Payable, trust: Trust): DiscoveryItem["trust"] {
  const { hostVerified, settledCount, distinctPayers, lastProbe } = trust;
  return {
    host: new URL(url).host,
    hostVerified,
    settledCount,
    distinctPayers,
    lastProbe: lastProbe && { ...lastProbe, at: lastProbe.at.toISOString() },
  };
}
