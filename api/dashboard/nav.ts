/** The rooms of the dashboard in their order, whoever furnishes them; one without a section is not shown. */
export const nav = [
  {
    group: null,
    entries: [
      ["", "Overview"],
      ["payments", "Payments"],
    ],
  },
  {
    group: "Sell",
    entries: [
      ["links", "Links"],
      ["invoices", "Invoices"],
      ["subscriptions", "Subscriptions"],
      ["products", "Products"],
      ["customers", "Customers"],
      ["resources", "x402 resources"],
    ],
  },
  {
    group: "Money",
    entries: [
      ["balances", "Balances and payouts"],
      ["ledger", "Ledger"],
    ],
  },
  {
    group: "Developers",
    entries: [
      ["api-keys", "API keys"],
      ["webhooks", "Webhooks"],
      ["events", "Events"],
    ],
  },
  {
    group: "Account",
    entries: [
      ["audit-log", "Audit log"],
      ["settings", "Settings"],
    ],
  },
] as const;
export type Place = (typeof nav)[number]["entries"][number][0];
