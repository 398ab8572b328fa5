import type { Content, Row } from "../content.ts";
import type { Messages, RefundMail } from "../message.ts";
import type { Words } from "../words/index.ts";

export function receipt({ seller, payment }: Messages["receipt"], words: Words): Content {
  const { fields } = words;
  return {
    subject: words.receipt.subject(seller.name),
    blocks: [
      { kind: "text", text: words.receipt.text(seller.name, payment.amount) },
      {
        kind: "facts",
        rows: [
          [fields.amount, payment.amount],
          [fields.paid, payment.paid],
          [fields.paidOn, words.time(payment.paidAt)],
          [fields.network, payment.chain],
          ...known(fields.transaction, payment.transaction),
          ...known(fields.reference, payment.reference),
          [fields.payment, payment.id],
        ],
      },
      { kind: "link", label: words.receipt.view, url: payment.url },
    ],
    footer: words.sentFor(seller.name, seller.contactEmail !== null),
  };
}

export function refundNeedsAddress(
  { seller, refund }: Messages["refund-needs-address"],
  words: Words,
): Content {
  return {
    subject: words.refund.claimSubject(seller.name),
    blocks: [
      { kind: "text", text: words.refund.claimText(seller.name, refund.amount) },
      { kind: "facts", rows: factsOf(refund, words) },
      { kind: "link", label: words.refund.claim, url: refund.url },
    ],
    footer: words.sentFor(seller.name, seller.contactEmail !== null),
  };
}

export function refundSucceeded({ seller, refund }: Messages["refund-succeeded"], words: Words): Content {
  return {
    subject: words.refund.subject(seller.name),
    blocks: [
      { kind: "text", text: words.refund.text(seller.name, refund.amount) },
      { kind: "facts", rows: factsOf(refund, words) },
    ],
    footer: words.sentFor(seller.name, seller.contactEmail !== null),
  };
}

function factsOf(refund: RefundMail, { fields }: Words): readonly Row[] {
  return [
    [fields.refund, refund.amount],
    [fields.network, refund.chain],
    ...known(fields.destination, refund.destination),
    [fields.payment, `${refund.payment.id} (${refund.payment.amount})`],
    ...known(fields.reference, refund.payment.reference),
  ];
}

function known(label: string, value: string | null): readonly Row[] {
  return value === null ? [] : [[label, value]];
}
