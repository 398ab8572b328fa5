import { apiKeysSection } from "./api-keys/routes.tsx";
import { balancesSection } from "./balances/routes.tsx";
import { eventsSection } from "./events/routes.tsx";
import { ledgerSection } from "./ledger/routes.tsx";
import { paymentsSection } from "./payments/routes.tsx";
import { resourcesSection } from "./resources/routes.tsx";
import type { Desk, Section } from "./section.ts";
import { settingsSection } from "./settings/routes.tsx";
import { webhooksSection } from "./webhooks/routes.tsx";

/** Every section there is. */
export function sectionsOf(desk: Desk): readonly Section[] {
  return [
    paymentsSection(desk),
    resourcesSection(desk),
    balancesSection(desk),
    ledgerSection(),
    apiKeysSection(desk),
    webhooksSection(desk),
    eventsSection(desk),
    settingsSection(),
  ];
}
