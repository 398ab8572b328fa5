import type { PaymentDesk } from "./clearing/verbs/payment.ts";
import type { EventFamily } from "./http/event.ts";
import { invoiceEvents } from "./invoice/events.ts";
import { paymentEvents } from "./payment/events.ts";
import { linkEvents } from "./payment-link/events.ts";
import { payoutEvents } from "./payout/events.ts";
import { refundEvents } from "./refund/events.ts";
import { resourceEvents } from "./resource/events.ts";
import { subscriptionEvents } from "./subscription/events.ts";
import { pingEvents } from "./webhook/events.ts";

interface EventDesk extends PaymentDesk {
  readonly now: () => Date;
}

/** Everything that merchants are told of, in the order in which it is documented. */
export function eventFamilies(desk: EventDesk): readonly EventFamily[] {
  return [
    paymentEvents(desk),
    refundEvents,
    linkEvents(desk),
    invoiceEvents(desk),
    subscriptionEvents,
    payoutEvents(desk),
    resourceEvents(desk),
    pingEvents,
  ];
}

/** The same where nothing is presented: types and shapes, which need no desk. */
export function describedFamilies(): readonly EventFamily[] {
  return eventFamilies({} as EventDesk);
}
