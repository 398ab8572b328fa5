import type { Letter } from "../../../api/mail/port.ts";

export const letter: Letter = {
  messageId: "mail_01K2C0Z0000000000000000000@pay.example",
  to: "buyer@example.com",
  from: { name: "Shop via Farebox", address: "no-reply@pay.example" },
  replyTo: "shop@shop.example",
  date: new Date("2026-08-11T09:30:00.000Z"),
  subject: "Receipt for your payment to Café Ωmega",
  text: "Your payment of 49.99 USD to Café Ωmega has arrived.\n",
  html: "<!doctype html><p>Your payment of 49.99 USD to Café Ωmega has arrived.</p>",
};
