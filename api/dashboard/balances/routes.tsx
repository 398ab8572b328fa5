/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import type { MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { PayoutAddressInput, PayoutInput } from "../../payout/schema.ts";
import {
  addAddress,
  cancelPayout,
  createPayout,
  listAddresses,
  listPayouts,
  readBalances,
  readPayout,
  removeAddress,
  type Till,
} from "../../payout/verbs.ts";
import { parseFields } from "../form.ts";
import type { Room, Show } from "../room.tsx";
import type { Desk, Section } from "../section.ts";
import { BalancesPage } from "./overview.tsx";
import { CancelPayoutPage, NewAddressPage, NewPayoutPage, PayoutPage, RemoveAddressPage } from "./pages.tsx";

const PATH = "/dashboard/balances";
const PAGE = 25;
const idOf = (c: Context) => c.req.param("id") ?? "";

/** What the merchant holds, and money out to it. */
export function balancesSection({ till }: Pick<Desk, "till">): Section {
  return {
    place: "balances",
    furnish(room) {
      room.page(PATH, overviewOf(till));
      payingOut(room, till);
      keepingAddresses(room, till);
    },
  };
}

function overviewOf(till: Till): Show {
  return async ({ c, ctx }) => {
    const balances = ctx.scope.permissions.has("ledger:read") ? await readBalances({ ctx, input: {} }) : null;
    const book = ctx.scope.permissions.has("payouts:write") ? await bookOf(till, c, ctx) : null;
    const body = <BalancesPage balances={balances} book={book} done={c.req.query("done")} />;
    return { title: "Balances and payouts", body };
  };
}

async function bookOf(till: Till, c: Context, ctx: MerchantCtx) {
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, {});
  const found = await listPayouts(till, { ctx, input: page });
  const { rows, next } = shownPage(c, page, found, {});
  return { payouts: rows, next, addresses: await listAddresses({ ctx, input: {} }) };
}

function payingOut(room: Room, till: Till): void {
  const ask: Show = async ({ ctx }) => {
    const addresses = await listAddresses({ ctx, input: {} });
    return {
      title: "Pay out",
      body: <NewPayoutPage rails={till.facilitator.rails()} addresses={addresses} />,
    };
  };
  room.page(`${PATH}/payouts/new`, ask);
  room.action({
    path: `${PATH}/payouts`,
    read: (_c, fields) => parseFields(PayoutInput, fields),
    async act(ctx, input) {
      const { id } = await createPayout(till, { ctx, input });
      return `${PATH}/payouts/${id}?done=created`;
    },
    again: ask,
  });
  room.page(`${PATH}/payouts/:id`, async ({ c, ctx }) => {
    const of = await readPayout(till, { ctx, input: { id: idOf(c) } });
    return { title: "Payout", body: <PayoutPage of={of} done={c.req.query("done")} /> };
  });
  const confirm: Show = async ({ c, ctx }) => {
    const of = await readPayout(till, { ctx, input: { id: idOf(c) } });
    return { title: "Cancel a payout", body: <CancelPayoutPage of={of} /> };
  };
  room.page(`${PATH}/payouts/:id/cancel`, confirm);
  room.action({
    path: `${PATH}/payouts/:id/cancel`,
    read: (c) => ({ id: idOf(c) }),
    async act(ctx, input) {
      await cancelPayout(till, { ctx, input });
      return `${PATH}/payouts/${input.id}?done=cancelled`;
    },
    again: confirm,
  });
}

function keepingAddresses(room: Room, till: Till): void {
  const ask: Show = async ({ ctx }) => {
    ctx.demand("payouts:write");
    const chains = [...new Set(till.facilitator.rails().map(({ chain }) => chain))];
    return { title: "Add a payout address", body: <NewAddressPage chains={chains} /> };
  };
  room.page(`${PATH}/addresses/new`, ask);
  room.action({
    path: `${PATH}/addresses`,
    read: (_c, fields) => parseFields(PayoutAddressInput, fields),
    async act(ctx, input) {
      await addAddress(till, { ctx, input });
      return `${PATH}?done=added`;
    },
    again: ask,
  });
  const confirm: Show = async ({ c, ctx }) => {
    const of = (await listAddresses({ ctx, input: {} })).find(({ id }) => id === idOf(c));
    if (!of) throw fault("not_found");
    return { title: "Remove an address", body: <RemoveAddressPage of={of} /> };
  };
  room.page(`${PATH}/addresses/:id/remove`, confirm);
  room.action({
    path: `${PATH}/addresses/:id/remove`,
    read: (c) => ({ id: idOf(c) }),
    async act(ctx, input) {
      await removeAddress({ ctx, input });
      return `${PATH}?done=removed`;
    },
    again: confirm,
  });
}
