/** The forms of what a merchant sells, as anybody might send them: of another site, of another merchant, without permission,
 *  empty, twice. */

import { beforeAll, describe, expect, it } from "vitest";
import { createKey } from "#api";
import { systemClock, systemRandom } from "#kernel/system";
import { masterSecret, sharedWorld } from "../../support/house.ts";
import { newSeller, sharedSeller } from "../../support/payments.ts";
import { expectRefusals, openSession, type Session } from "./selling.ts";

const world = sharedWorld();
const seller = sharedSeller(world);
let mine: Session;
let stranger: Session;
let reader: Session;
let ids: Record<"products" | "customers" | "links" | "invoices" | "subscriptions", string>;
beforeAll(async () => {
  const operator = {
    ...{
      db: world.house.db,
      clock: systemClock,
      newId: world.house.newId,
      random: systemRandom,
      masterSecret,
    },
  };
  const { plaintext } = await createKey(operator, {
    ...{ merchantId: seller.id, kind: "sk", name: "reader" },
    permissions: ["merchant:manage", "catalog:read", "links:read", "invoices:read", "customers:read"],
  });
  mine = await openSession(world.baseUrl, seller.secretKey);
  stranger = await openSession(world.baseUrl, (await newSeller(world)).secretKey);
  reader = await openSession(world.baseUrl, plaintext);
  const usd = { amount: "5.00", asset: "USD" };
  const ada = { name: "Ada", email: "ada@buyer.example" };
  const make = async (path: string, body: unknown) => (await seller.must("POST", `/v1/${path}`, body)).id;
  ids = {
    products: await make("catalog/products", { sku: "tea", name: "Tea", prices: [usd] }),
    customers: await make("customers", ada),
    links: await make("payment-links", { kind: "fixed", amount: usd }),
    invoices: await make("invoices", {
      buyer: ada,
      currency: "USD",
      lines: [{ name: "Tea", unitPrice: usd }],
    }),
    subscriptions: await make("subscriptions", {
      customer: ada,
      description: "Tea",
      amount: usd,
      interval: "month",
    }),
  };
});

const price = { "prices.0.amount": "1", "prices.0.asset": "USD" };
/** Every form, filled in. */
const forms: readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] = [
  ["products", { name: "Cake", sku: "cake", ...price }],
  ["products/:id/edit", { name: "Cake" }],
  ["products/:id/archive", {}],
  ["products/:id/restore", {}],
  ["customers", { name: "Eve", email: "eve@buyer.example" }],
  ["customers/:id/edit", { name: "Eve" }],
  ["links", { kind: "fixed", "amount.amount": "1", "amount.asset": "USD" }],
  ["links/:id/edit", { title: "Eve" }],
  ...["list", "unlist", "disable", "enable"].map((word) => [`links/:id/${word}`, {}] as const),
  [
    "invoices",
    { "buyer.name": "Eve", currency: "USD", "lines.0.name": "Tea", "lines.0.unitPrice.amount": "1" },
  ],
  ["invoices/:id/edit", { notes: "Eve" }],
  ["invoices/:id/amend", { notes: "Eve" }],
  ...["issue", "send", "list", "unlist", "void", "uncollectible", "delete"].map(
    (word) => [`invoices/:id/${word}`, {}] as const,
  ),
  [
    "subscriptions",
    {
      ...{ "customer.name": "Eve", "customer.email": "eve@buyer.example", description: "Tea" },
      ...{ "amount.amount": "1", "amount.asset": "USD", interval: "month" },
    },
  ],
  ["subscriptions/:id/edit", { description: "Eve" }],
  ...["pause", "resume", "cancel"].map((word) => [`subscriptions/:id/${word}`, {}] as const),
];
const at = (path: string) => path.replace(":id", ids[path.split("/")[0] as keyof typeof ids]);
const stand = () =>
  world.database.query(
    `SELECT (SELECT json_agg(t ORDER BY id) FROM product t) AS products, (SELECT json_agg(t ORDER BY id) FROM customer t) AS customers,
      (SELECT json_agg(t ORDER BY id) FROM payment_link t) AS links, (SELECT json_agg(t ORDER BY id) FROM invoice t) AS invoices,
      (SELECT json_agg(t ORDER BY id) FROM subscription t) AS subscriptions`,
  );

describe("every form", () => {
  it.each(forms)("%s changes nothing for a stranger, another site or another key", async (path, fields) => {
    const who = { mine, reader, stranger: path.includes(":id") ? stranger : null };
    await expectRefusals(at(path), fields, who, stand);
  });

  it.each(forms.filter(([path]) => !path.includes("/")))(
    "%s counts once however often it is sent",
    async (path, fields) => {
      const once = { ...fields, once: `same-${path}` };
      const [first, second] = [await mine.post(path, once), await mine.post(path, once)];
      expect([first.status, second.status, second.location]).toEqual([303, 303, first.location]);
    },
  );

  it.each(forms.filter(([path]) => !path.includes("/")))(
    "%s sent without a word is refused, and says at which fields, in words for people",
    async (path, fields) => {
      const chosen = Object.entries(fields).filter(([name]) => /kind|interval|currency|asset$/.test(name));
      const { status, text } = await mine.post(path, Object.fromEntries(chosen));
      expect(status).toBe(400);
      expect(text).toContain(`role="alert"`);
      expect(text).toContain("This is needed.");
      expect(text).not.toMatch(/The form|Send an? |expected|received/);
    },
  );
});

describe("every page", () => {
  it("of another merchant's thing, or of an id that is none, is not found", async () => {
    for (const [section, id] of Object.entries(ids))
      for (const path of [`${section}/${id}`, `${section}/${id}/edit`]) {
        expect([path, (await stranger.get(path)).status]).toEqual([path, 404]);
        expect([path, (await mine.get(path)).status]).toEqual([path, 200]);
        expect((await mine.get(`${section}/nobody%00`)).status).toBe(404);
      }
  });

  it("of a filter or a cursor that is none says so", async () => {
    for (const path of ["links?kind=x", "invoices?status=x", "subscriptions?state=x", "products?active=x"])
      expect([path, (await mine.get(path)).status]).toEqual([path, 400]);
    expect((await mine.get("customers?cursor=x")).status).toBe(400);
  });

  it("offers a key that may only read no form, and says why", async () => {
    for (const section of Object.keys(ids)) {
      const { status, text } = await reader.get(`${section}/new`);
      expect([section, status, text.includes("lacks the permission")]).toEqual([section, 200, true]);
    }
  });
});

describe("a form that is refused", () => {
  const draft = { "buyer.name": "Ada", currency: "USD", "lines.0.name": "Tea", "lines.0.quantity": "0" };

  it("says what is wrong once beside the field and once above, by its label and in plain words", async () => {
    const fields = { ...draft, "lines.0.unitPrice.amount": "a few" };
    const { status, text } = await mine.post("invoices", fields);
    expect(status).toBe(400);
    const [, summary = ""] = /<ul>(.*?)<\/ul>/s.exec(text.slice(text.indexOf('role="alert"'))) ?? [];
    expect(
      summary
        .replaceAll(/<[^>]+>/g, "|")
        .split("|")
        .filter(Boolean),
    ).toEqual([
      ...["Line 1, Unit price", ": An amount in digits, such as 12.50."],
      ...["Line 1, Quantity", ": At least 1."],
    ]);
    for (const words of ["An amount in digits", "At least 1."]) expect(text.split(words)).toHaveLength(3);
  });

  it("keeps what was typed, and what stands in a row that nothing was typed into", async () => {
    const { text } = await mine.post("invoices", draft);
    const typedIn = (name: string) => {
      const [tag = ""] = new RegExp(`<input[^>]* name="${name}"[^>]*>`).exec(text) ?? [];
      return / value="([^"]*)"/.exec(tag)?.[1];
    };
    expect([typedIn("lines.0.quantity"), typedIn("lines.1.quantity")]).toEqual(["0", "1"]);
  });

  it("says that a name of blanks is needed", async () => {
    const { status, text } = await mine.post("invoices", { ...draft, "buyer.name": "   " });
    expect([status, /class="error"[^>]*>([^<]*)/.exec(text)?.[1]]).toEqual([400, "This is needed."]);
  });

  it("not for a comma before cents", async () => {
    const fields = { ...draft, "lines.0.quantity": "1", "lines.0.unitPrice.amount": "9,99" };
    const { status, location } = await mine.post("invoices", fields);
    expect(status).toBe(303);
    const id = /inv_\w+/.exec(location ?? "")?.[0];
    expect((await seller.must("GET", `/v1/invoices/${id}`)).total.display).toBe("$9.99");
  });
});

describe("the form of a draft", () => {
  it("sends every line, and keeps products as they were priced, also one that is sold no more", async () => {
    const prices = [{ amount: "4.00", asset: "USD" }];
    const product = (name: string) =>
      seller.must("POST", "/v1/catalog/products", { sku: name, name, prices });
    const [mug, jam] = [await product("Mug"), await product("Jam")];
    const lines = [{ productId: mug.id }, { productId: jam.id }];
    const bill = { buyer: { name: "Ada" }, currency: "USD", lines };
    const { id } = await seller.must("POST", "/v1/invoices", bill);
    await seller.must("PATCH", `/v1/catalog/products/${mug.id}`, {
      prices: [{ ...prices[0], amount: "9.00" }],
    });
    await seller.must("PATCH", `/v1/catalog/products/${jam.id}`, { active: false });
    const { text } = await mine.get(`invoices/${id}/edit`);
    expect(text).toContain(`<option value="${jam.id}" selected="">Jam ($4.00)</option>`);
    const { status } = await mine.post(`invoices/${id}/edit`, {
      ...{ "buyer.name": "Ada", currency: "USD", notes: "Thanks" },
      ...{ "lines.0.productId": mug.id, "lines.0.quantity": "1" },
      ...{ "lines.1.productId": jam.id, "lines.1.quantity": "2" },
    });
    expect(status).toBe(303);
    expect(await seller.must("GET", `/v1/invoices/${id}`)).toMatchObject({
      lines: [
        { name: "Mug", unitPrice: { amount: "4.00" }, quantity: 1 },
        { name: "Jam", productId: jam.id, unitPrice: { amount: "4.00" }, quantity: 2 },
      ],
      ...{ total: { amount: "12.00" }, notes: "Thanks" },
    });
  });
});

describe("the form of a product", () => {
  it("takes a description of several lines, and shows them", async () => {
    const { status, location } = await mine.post("products", {
      ...{ name: "Tea", sku: "tea-of-lines", description: "Green,\r\nfrom Uji" },
      ...{ "prices.0.amount": "5", "prices.0.asset": "USD" },
    });
    expect(status).toBe(303);
    const { text } = await mine.get(location?.replace("/dashboard/", "") ?? "");
    expect(text).toContain('<span class="lines">Green,\nfrom Uji</span>');
  });
});

describe("the page of a customer", () => {
  const shown = async (id: string) => {
    const { text } = await mine.get(`customers/${id}`);
    const [paidAndOwed = ""] = /Paid and owed.*?<\/table>/s.exec(text) ?? [];
    return { amounts: paidAndOwed.match(/\$[\d.]+/g), invoices: text.match(/inv_\w+/g)?.length };
  };

  /** The API tells the same of them. */
  const listed = async (what: "payments" | "invoices", id: string): Promise<readonly string[]> =>
    (await seller.must("GET", `/v1/${what}?customerId=${id}`)).map(
      (row: { readonly id: string; readonly paymentIntent?: { readonly id: string } }) =>
        row.paymentIntent?.id ?? row.id,
    );

  it("adds up what they were billed by subscriptions before their email changed", async () => {
    const { subscriber } = await seller.must("POST", "/v1/subscriptions", {
      customer: { name: "Ada", email: "ada@old.example" },
      ...{ description: "Coffee", amount: { amount: "18.00", asset: "USD" }, interval: "week" },
    });
    const before = await shown(subscriber.customerId);
    expect(before.amounts).toEqual(["$0.00", "$18.00"]);
    await seller.must("PATCH", `/v1/customers/${subscriber.customerId}`, { email: "ada@new.example" });
    expect(await shown(subscriber.customerId)).toEqual(before);
    const lines = [{ name: "Beans", unitPrice: { amount: "2.00", asset: "USD" } }];
    const buyer = { name: "Ada", email: "ada@new.example" };
    await seller.must("POST", "/v1/invoices", { buyer, currency: "USD", lines, issue: true });
    expect((await shown(subscriber.customerId)).amounts).toEqual(["$0.00", "$20.00"]);
    const billed = await seller.must("GET", `/v1/invoices?customerId=${subscriber.customerId}`);
    const totals = billed.map(({ total }: { readonly total: { readonly display: string } }) => total.display);
    expect(totals).toEqual(["$2.00", "$18.00"]);
  });

  it("shows nothing of who had their email before, nor anything to another merchant", async () => {
    await seller.must("POST", "/v1/subscriptions", {
      customer: { name: "Eve", email: "eve@old.example" },
      ...{ description: "Cake", amount: { amount: "3.00", asset: "USD" }, interval: "week" },
    });
    const [eve] = await seller.must("GET", "/v1/customers?email=eve@old.example");
    await seller.must("PATCH", `/v1/customers/${eve.id}`, { email: "eve@new.example" });
    const { id } = await seller.must("POST", "/v1/customers", { name: "Bob", email: "eve@old.example" });
    expect(await shown(id)).toEqual({ amounts: null, invoices: undefined });
    expect((await shown(eve.id)).amounts).toEqual(["$0.00", "$3.00"]);
    expect((await stranger.get(`customers/${eve.id}`)).status).toBe(404);
    expect(await listed("invoices", eve.id)).toHaveLength(1);
    for (const what of ["invoices", "payments"] as const)
      for (const nobody of [id, "cus_x", "Eve", `cus_${"0".repeat(26)}`])
        expect(await listed(what, nobody)).toEqual([]);
  });

  it("lists what they paid for subscriptions before their email changed, and not what who had it before paid", async () => {
    const paidBy = async (id: string) =>
      [...new Set((await mine.get(`customers/${id}`)).text.match(/pi_\w{26}/g))].sort();
    const subscribe = async (email: string) => {
      const made = await seller.must("POST", "/v1/subscriptions", {
        ...{ customer: { name: "Kim", email }, description: "Milk", interval: "week" },
        amount: { amount: "4.00", asset: "USD" },
      });
      const { cycles } = await seller.must("GET", `/v1/subscriptions/${made.id}`);
      const intent = await seller.must("POST", `/v1/invoices/${cycles[0].id}/checkout`, {});
      return { id: made.subscriber.customerId, intentId: intent.id };
    };
    const kim = await subscribe("kim@old.example");
    expect(await paidBy(kim.id)).toEqual([kim.intentId]);
    await seller.must("PATCH", `/v1/customers/${kim.id}`, { email: "kim@new.example" });
    const customer = { name: "Kim", email: "KIM@new.example" };
    const own = await seller.must("POST", "/v1/payment-intents", {
      ...{ amount: { amount: "1.00", asset: "USD" }, customer },
    });
    const heir = await subscribe("kim@old.example");
    expect(await paidBy(kim.id)).toEqual([kim.intentId, own.id].sort());
    expect(await paidBy(heir.id)).toEqual([heir.intentId]);
    expect(await listed("payments", kim.id)).toEqual([own.id, kim.intentId]);
    expect(await listed("payments", heir.id)).toEqual([heir.intentId]);
    const { text } = await mine.get(`payments/${kim.intentId}`);
    for (const place of [/invoices\/inv_\w{26}/, /subscriptions\/sub_\w{26}/])
      expect(text).toMatch(new RegExp(`<dd><a href="/dashboard/${place.source}">`));
    const first = await seller.ask("GET", `/v1/payments?customerId=${kim.id}&limit=1`);
    const cursor = first.headers.get("Next-Cursor");
    const others = await seller.ask("GET", `/v1/payments?customerId=${heir.id}&limit=1&cursor=${cursor}`);
    expect([first.body.length, others.status, others.body.code]).toEqual([1, 400, "invalid_cursor"]);
  });
});
