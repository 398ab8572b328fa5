import type { Block, Content, Row } from "../content.ts";
import type { Messages, RefundMail, ReturnMail } from "../message.ts";
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
      ...lookUp(refund, words),
    ],
    footer: words.sentFor(seller.name, seller.contactEmail !== null),
  };
}

export function paymentReturned({ seller, returned }: Messages["payment-returned"], words: Words): Content {
  return {
    subject: words.returned.subject(seller.name),
    blocks: [
      { kind: "text", text: words.returned.text(seller.name, returned.amount) },
      { kind: "text", text: words.returned.why[returned.cause](seller.name) },
      { kind: "facts", rows: [[words.fields.amount, returned.amount], ...wayOf(returned, words)] },
      ...lookUp(returned, words),
      { kind: "link", label: words.receipt.view, url: returned.url },
    ],
    footer: words.sentFor(seller.name, seller.contactEmail !== null),
  };
}

function factsOf(refund: RefundMail, words: Words): readonly Row[] {
  return [[words.fields.refund, refund.amount], ...wayOf(refund, words)];
}

/** Where money went, and of which payment it was. */
function wayOf(
  { chain, destination, transaction, payment }: RefundMail | ReturnMail,
  { fields }: Words,
): readonly Row[] {
  return [
    [fields.network, chain],
    ...known(fields.destination, destination),
    ...known(fields.transaction, transaction),
    [fields.payment, `${payment.id} (${payment.amount})`],
    ...known(fields.reference, payment.reference),
  ];
}

function lookUp({ explorerUrl }: RefundMail | ReturnMail, words: Words): readonly Block[] {
  return explorerUrl ? [{ kind: "link", label: words.lookUp, url: explorerUrl }] : [];
}

/** What was written down by an earlier release may lack the value. */
function known(label: string, value: string | null | undefined): readonly Row[] {
  return value ? [[label, value]] : [];
}
