import { apiKeysSection } from "./api-keys/routes.tsx";
import { auditLogSection } from "./audit-log/routes.tsx";
import { balancesSection } from "./balances/routes.tsx";
import { customersSection } from "./customers/routes.tsx";
import { eventsSection } from "./events/routes.tsx";
import { invoicesSection } from "./invoices/routes.tsx";
import { ledgerSection } from "./ledger/routes.tsx";
import { linksSection } from "./links/routes.tsx";
import { overviewSection } from "./overview/routes.tsx";
import { paymentsSection } from "./payments/routes.tsx";
import { productsSection } from "./products/routes.tsx";
import { resourcesSection } from "./resources/routes.tsx";
import type { Desk, Section } from "./section.ts";
import { settingsSection } from "./settings/routes.tsx";
import { subscriptionsSection } from "./subscriptions/routes.tsx";
import { webhooksSection } from "./webhooks/routes.tsx";

/** Every section there is. */
export function sectionsOf(desk: Desk): readonly Section[] {
  return [
    overviewSection(desk),
    paymentsSection(desk),
    linksSection(desk),
    invoicesSection(desk),
    subscriptionsSection(desk),
    productsSection(),
    customersSection(desk),
    resourcesSection(desk),
    balancesSection(desk),
    ledgerSection(),
    apiKeysSection(desk),
    webhooksSection(desk),
    eventsSection(desk),
    auditLogSection(),
    settingsSection(desk),
  ];
}
