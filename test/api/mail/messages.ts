/** One message of every template. Texts that somebody else chose are `text`. */
import type { InvoiceMail, Message } from "../../../api/mail/message.ts";

export function messagesWith(text: string): readonly Message[] {
  const seller = { name: text, contactEmail: "shop@shop.example" };
  const invoice: InvoiceMail = {
    number: "INV-2026-000042",
    lines: [
      { name: text, quantity: 1, amount: "10.00 USD" },
      { name: "Support", quantity: 3, amount: "30.00 USD" },
    ],
    total: "40.00 USD",
    outstanding: "25.00 USD",
    issuedAt: "2026-08-01T09:30:00.000Z",
    dueAt: "2026-08-11T09:30:00.000Z",
    url: "https://pay.example/invoices/inv_01K2C0Z0000000000000000000/view",
    buyerName: text,
    notes: text,
  };
  const one = { seller, invoice };
  const endpoint = {
    id: "whe_01K2C0Z0000000000000000000",
    url: "https://shop.example/hooks",
    failingSince: "2026-08-10T09:30:00.000Z",
  };
  const payment = {
    id: "pi_01K2C0Z0000000000000000000",
    amount: "49.99 USD",
    paid: "49.990000 USDC",
    chain: "base",
    transaction: `0x${"12".repeat(32)}`,
    paidAt: "2026-08-11T09:30:00.000Z",
    reference: text,
    url: "https://pay.example/checkout/pi_01K2C0Z0000000000000000000",
  };
  const refund = {
    id: "re_01K2C0Z0000000000000000000",
    amount: "20.000000 USDC",
    chain: "base",
    destination: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    transaction: payment.transaction,
    explorerUrl: `https://basescan.org/tx/${payment.transaction}`,
    url: `${payment.url}/refund`,
    payment: { id: payment.id, amount: payment.amount, reference: text },
  };
  const returned = {
    id: "ret_01K2C0Z0000000000000000000",
    amount: "4.000000 USDC",
    cause: "late" as const,
    chain: "base",
    destination: refund.destination,
    transaction: refund.transaction,
    explorerUrl: refund.explorerUrl,
    url: payment.url,
    payment: refund.payment,
  };
  const payoutAddress = {
    address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    chain: "base",
    label: text,
    usableFrom: "2026-08-12T09:30:00.000Z",
  };
  return [
    { template: "invoice-issued", data: one },
    {
      template: "invoices-issued",
      data: {
        seller,
        invoices: [invoice, { ...invoice, number: "INV-2026-000043", outstanding: "40.00 USD" }],
      },
    },
    { template: "invoice-due-soon", data: one },
    { template: "invoice-due-today", data: one },
    { template: "invoice-overdue-3", data: one },
    { template: "invoice-overdue-7", data: one },
    { template: "invoice-overdue-14", data: one },
    { template: "receipt", data: { seller, payment } },
    {
      template: "refund-needs-address",
      data: {
        seller,
        refund: { ...refund, destination: null, transaction: null, explorerUrl: null },
      },
    },
    { template: "refund-succeeded", data: { seller, refund } },
    { template: "payment-returned", data: { seller, returned } },
    { template: "endpoint-failing-1", data: { endpoint } },
    { template: "endpoint-failing-3", data: { endpoint } },
    { template: "endpoint-disabled", data: { endpoint } },
    { template: "endpoint-gone", data: { endpoint } },
    { template: "payout-address-added", data: payoutAddress },
    { template: "contact-changed", data: { changedAt: "2026-08-11T09:30:00.000Z" } },
    {
      template: "merchant-suspended",
      data: { suspendedAt: "2026-08-11T09:30:00.000Z", reason: payoutAddress.label },
    },
    { template: "merchant-resumed", data: { resumedAt: "2026-08-11T09:30:00.000Z" } },
  ];
}
