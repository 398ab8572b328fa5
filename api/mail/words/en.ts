import type { ReturnCause } from "../message.ts";

const why: Readonly<Record<ReturnCause, (seller: string) => string>> = {
  overpaid: () => "It was more than was asked for.",
  cancelled: () => "It came after the payment was cancelled.",
  late: () => "It came after the time to pay was over.",
  underpaid: () => "It was less than was due.",
  unasked: () => "It came beside what was asked for.",
  declined: (seller: string) => `${seller} did not take it as the payment.`,
};

/** What mails say, in English. Another language is a file of the same shape. */
export const en = {
  lang: "en",
  date: (iso: string) =>
    new Date(iso).toLocaleDateString("en-GB", {
      day: "numeric",
      month: "long",
      year: "numeric",
      timeZone: "UTC",
    }),
  time: (iso: string) => `${new Date(iso).toISOString().slice(0, 16).replace("T", " ")} UTC`,
  hello: (name: string | null) => (name ? `Hello ${name},` : "Hello,"),
  via: (seller: string) => `${seller} via Farebox`,
  service: "Farebox",
  sentFor: (seller: string, reply: boolean) =>
    `Farebox sent this for ${seller}.${reply ? " Answers to this mail go to them." : ""}`,
  sentToMerchant: "Farebox sent this to the contact address in your settings.",
  fields: {
    invoice: "Invoice",
    issued: "Issued",
    due: "Due",
    total: "Total",
    outstanding: "To pay",
    notes: "Notes",
    amount: "Amount",
    paid: "Paid with",
    paidOn: "Paid on",
    network: "Network",
    transaction: "Transaction",
    payment: "Payment",
    reference: "Reference",
    refund: "Refund",
    destination: "Sent to",
    endpoint: "Endpoint",
    failingSince: "Failing since",
    address: "Address",
    label: "Label",
    usableFrom: "Usable from",
    changed: "Changed",
    suspended: "Suspended",
    reason: "Reason",
  },
  lookUp: "Look the transaction up",
  quantity: (name: string, quantity: number) => (quantity === 1 ? name : `${name} × ${quantity}`),
  invoice: {
    issued: (seller: string, number: string) => `Invoice ${number} from ${seller}`,
    issuedText: (seller: string, total: string, due: string) =>
      `${seller} has sent you an invoice of ${total}. It is due on ${due}.`,
    several: (seller: string, count: number) => `${count} invoices from ${seller}`,
    severalText: (seller: string, count: number) =>
      `${seller} has sent you ${count} invoices. Each has its own pay link.`,
    dueSoon: (number: string, due: string) => `Invoice ${number} is due on ${due}`,
    dueSoonText: (seller: string, due: string) => `The invoice of ${seller} below is due on ${due}.`,
    dueToday: (number: string) => `Invoice ${number} is due today`,
    dueTodayText: (seller: string) => `The invoice of ${seller} below is due today.`,
    overdue: (number: string, days: number) => `Invoice ${number} is ${days} days overdue`,
    overdueText: (seller: string, due: string) =>
      `The invoice of ${seller} below was due on ${due} and is not paid in full.`,
    pay: "View and pay",
    payNumber: (number: string) => `View and pay ${number}`,
    ignore: "If you have just paid it, there is nothing left to do.",
  },
  receipt: {
    subject: (seller: string) => `Receipt for your payment to ${seller}`,
    text: (seller: string, amount: string) => `Your payment of ${amount} to ${seller} has arrived.`,
    view: "View the payment",
  },
  refund: {
    claimSubject: (seller: string) => `Say where your refund from ${seller} goes`,
    claimText: (seller: string, amount: string) =>
      `${seller} wants to refund ${amount} of your payment. We cannot tell which address reaches you: at the link below the wallet that paid can name one. If you paid from an exchange, tell ${seller} your address instead.`,
    claim: "Claim your refund",
    subject: (seller: string) => `Refund from ${seller}`,
    text: (seller: string, amount: string) => `${seller} has refunded ${amount} of your payment.`,
  },
  returned: {
    subject: (seller: string) => `Money sent back by ${seller}`,
    text: (seller: string, amount: string) =>
      `${amount} that you sent to ${seller} could not be used. It was sent back.`,
    why,
  },
  endpoint: {
    failing: "A webhook endpoint does not take events",
    failingText: (days: number) =>
      `For ${days === 1 ? "a day" : `${days} days`} this endpoint has taken no event. Each delivery is tried again with growing pauses. After 5 days without success the endpoint is switched off.`,
    disabled: "A webhook endpoint was switched off",
    disabledText:
      "This endpoint has taken no event for 5 days, so nothing is sent to it any more. What was not delivered waits, and goes out once you enable the endpoint again.",
    goneText:
      "This endpoint answered that it is gone (410), so nothing is sent to it any more. What was not delivered waits, and goes out if you enable the endpoint again.",
    next: (id: string) => `What was answered is at GET /v1/webhook-endpoints/${id}/deliveries.`,
  },
  payoutAddress: {
    subject: "A payout address was added",
    text: "A new address was added to your payout addresses. From the time below on, money can be paid out to it.",
    alarm: "If this was not you, remove the address and revoke your API keys now.",
  },
  contact: {
    subject: "Your contact address was changed",
    text: "The contact address in your settings was changed. Notices about your account no longer come to this address.",
    alarm: "If this was not you, revoke your API keys now.",
  },
  suspension: {
    subject: "Your account was suspended",
    text: "The operator has suspended your account: it asks for no payments and takes none, it bills nobody, and pays nothing out.",
    next: "You can sign in, read everything and refund what you were paid. Ask the operator what is needed to sell again.",
    overSubject: "Your account is no longer suspended",
    overText:
      "Your account takes payments and pays out again. What your subscriptions missed is billed within the hour.",
  },
};
export type Words = typeof en;
