import type { Content } from "../content.ts";
import type { Messages } from "../message.ts";
import type { Words } from "../words/index.ts";

type AboutEndpoint = Messages["endpoint-disabled"];

export function endpointFailing(days: number) {
  return (data: AboutEndpoint, words: Words): Content =>
    aboutEndpoint(data, words, words.endpoint.failing, words.endpoint.failingText(days));
}

export function endpointDisabled(data: AboutEndpoint, words: Words): Content {
  return aboutEndpoint(data, words, words.endpoint.disabled, words.endpoint.disabledText);
}

export function endpointGone(data: AboutEndpoint, words: Words): Content {
  return aboutEndpoint(data, words, words.endpoint.disabled, words.endpoint.goneText);
}

function aboutEndpoint(
  { endpoint: { id, url, failingSince } }: AboutEndpoint,
  words: Words,
  subject: string,
  told: string,
): Content {
  return {
    subject,
    blocks: [
      { kind: "text", text: told },
      {
        kind: "facts",
        rows: [
          [words.fields.endpoint, url],
          [words.fields.failingSince, words.time(failingSince)],
        ],
      },
      { kind: "text", text: words.endpoint.next(id) },
    ],
    footer: words.sentToMerchant,
  };
}

export function payoutAddressAdded(data: Messages["payout-address-added"], words: Words): Content {
  const { fields, payoutAddress } = words;
  return {
    subject: payoutAddress.subject,
    blocks: [
      { kind: "text", text: payoutAddress.text },
      {
        kind: "facts",
        rows: [
          [fields.address, data.address],
          [fields.network, data.chain],
          ...(data.label === "" ? [] : [[fields.label, data.label] as const]),
          [fields.usableFrom, words.time(data.usableFrom)],
        ],
      },
      { kind: "text", text: payoutAddress.alarm },
    ],
    footer: words.sentToMerchant,
  };
}

export function contactChanged({ changedAt }: Messages["contact-changed"], words: Words): Content {
  return {
    subject: words.contact.subject,
    blocks: [
      { kind: "text", text: words.contact.text },
      { kind: "facts", rows: [[words.fields.changed, words.time(changedAt)]] },
      { kind: "text", text: words.contact.alarm },
    ],
    footer: words.sentToMerchant,
  };
}

export function merchantSuspended(
  { suspendedAt, reason }: Messages["merchant-suspended"],
  words: Words,
): Content {
  const { fields, suspension } = words;
  return {
    subject: suspension.subject,
    blocks: [
      { kind: "text", text: suspension.text },
      {
        kind: "facts",
        rows: [
          [fields.reason, reason],
          [fields.suspended, words.time(suspendedAt)],
        ],
      },
      { kind: "text", text: suspension.next },
    ],
    footer: words.sentToMerchant,
  };
}

export function merchantResumed({ resumedAt }: Messages["merchant-resumed"], words: Words): Content {
  return {
    subject: words.suspension.overSubject,
    blocks: [
      { kind: "text", text: words.suspension.overText },
      { kind: "facts", rows: [[words.fields.changed, words.time(resumedAt)]] },
    ],
    footer: words.sentToMerchant,
  };
}
