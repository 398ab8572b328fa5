/** What each mail says, as plain data: it is frozen when its cause becomes true, and the mail says what was so then.
 *  Amounts are written out, instants are ISO text. */

/** Who the mail is from, to its reader. */
export interface Seller {
  readonly name: string;
  /** Where answers go; null where the merchant has no contact address. */
  readonly contactEmail: string | null;
}

export interface InvoiceMail {
  readonly number: string;
  readonly lines: readonly { readonly name: string; readonly quantity: number; readonly amount: string }[];
  readonly total: string;
  /** Still to be paid. */
  readonly outstanding: string;
  readonly issuedAt: string;
  readonly dueAt: string;
  /** The pay link. */
  readonly url: string;
  readonly buyerName: string | null;
  readonly notes: string | null;
}

export interface PaymentMail {
  readonly id: string;
  readonly amount: string;
  /** What moved, in coins. */
  readonly paid: string;
  readonly chain: string;
  readonly transaction: string | null;
  readonly paidAt: string;
  readonly reference: string | null;
  /** The payment's own page. */
  readonly url: string;
}

export interface RefundMail {
  readonly id: string;
  readonly amount: string;
  readonly chain: string;
  readonly destination: string | null;
  /** What brought it; null while nothing has, and where a provider brings it. */
  readonly transaction: string | null;
  /** Where that can be looked up; null where nobody keeps an explorer of the chain. */
  readonly explorerUrl: string | null;
  /** Where it is claimed, and seen. */
  readonly url: string;
  readonly payment: { readonly id: string; readonly amount: string; readonly reference: string | null };
}

/** Why money could not be used. */
export type ReturnCause = "overpaid" | "cancelled" | "late" | "underpaid" | "unasked" | "declined";

export interface ReturnMail extends Omit<RefundMail, "destination"> {
  readonly destination: string;
  readonly cause: ReturnCause;
}

export interface EndpointMail {
  readonly id: string;
  readonly url: string;
  readonly failingSince: string;
}

interface OneInvoice {
  readonly seller: Seller;
  readonly invoice: InvoiceMail;
}
interface AboutEndpoint {
  readonly endpoint: EndpointMail;
}

/** Every mail there is, and what it is made of. */
export interface Messages {
  "invoice-issued": OneInvoice;
  /** Several at once, after a time in which none could be issued. */
  "invoices-issued": { readonly seller: Seller; readonly invoices: readonly InvoiceMail[] };
  "invoice-due-soon": OneInvoice;
  "invoice-due-today": OneInvoice;
  "invoice-overdue-3": OneInvoice;
  "invoice-overdue-7": OneInvoice;
  "invoice-overdue-14": OneInvoice;
  receipt: { readonly seller: Seller; readonly payment: PaymentMail };
  /** Nobody can tell where it would reach the payer: the page that it links to takes an address. */
  "refund-needs-address": { readonly seller: Seller; readonly refund: RefundMail };
  "refund-succeeded": { readonly seller: Seller; readonly refund: RefundMail };
  /** Money that could not be used is back with who sent it. */
  "payment-returned": { readonly seller: Seller; readonly returned: ReturnMail };
  "endpoint-failing-1": AboutEndpoint;
  "endpoint-failing-3": AboutEndpoint;
  "endpoint-disabled": AboutEndpoint;
  /** It answered 410. */
  "endpoint-gone": AboutEndpoint;
  "payout-address-added": {
    readonly address: string;
    readonly chain: string;
    readonly label: string;
    readonly usableFrom: string;
  };
  /** To the old address. */
  "contact-changed": { readonly changedAt: string };
  "merchant-suspended": { readonly suspendedAt: string; readonly reason: string };
  "merchant-resumed": { readonly resumedAt: string };
}
export type Template = keyof Messages;

/** A mail with its data. */
export type Message = {
  [T in Template]: { readonly template: T; readonly data: Messages[T] };
}[Template];

/** A mail that something calls for. One cause, one mail of a kind. */
export type Draft = Message & {
  readonly merchantId: string;
  /** Id of what calls for it: an invoice, a clearing, a refund, a return. */
  readonly cause: string;
  readonly to: string;
};
