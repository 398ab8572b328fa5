import type { Block, Content } from "../content.ts";
import type { InvoiceMail, Messages, Seller } from "../message.ts";
import type { Words } from "../words/index.ts";

type One = Messages["invoice-issued"];

export function invoiceIssued({ seller, invoice }: One, words: Words): Content {
  const due = words.date(invoice.dueAt);
  return letter(seller, words, {
    subject: words.invoice.issued(seller.name, invoice.number),
    blocks: [
      text(words.hello(invoice.buyerName)),
      text(words.invoice.issuedText(seller.name, invoice.total, due)),
      ...sheet(invoice, words, words.invoice.pay),
    ],
  });
}

export function invoicesIssued({ seller, invoices }: Messages["invoices-issued"], words: Words): Content {
  const [first] = invoices;
  return letter(seller, words, {
    subject: words.invoice.several(seller.name, invoices.length),
    blocks: [
      text(words.hello(first?.buyerName ?? null)),
      text(words.invoice.severalText(seller.name, invoices.length)),
      ...invoices.flatMap((each) => sheet(each, words, words.invoice.payNumber(each.number))),
    ],
  });
}

export function invoiceDueSoon({ seller, invoice }: One, words: Words): Content {
  const due = words.date(invoice.dueAt);
  const subject = words.invoice.dueSoon(invoice.number, due);
  return reminder({ seller, invoice }, words, subject, words.invoice.dueSoonText(seller.name, due));
}

export function invoiceDueToday({ seller, invoice }: One, words: Words): Content {
  const subject = words.invoice.dueToday(invoice.number);
  return reminder({ seller, invoice }, words, subject, words.invoice.dueTodayText(seller.name));
}

export function invoiceOverdue(days: number) {
  return ({ seller, invoice }: One, words: Words): Content => {
    const told = words.invoice.overdueText(seller.name, words.date(invoice.dueAt));
    return reminder({ seller, invoice }, words, words.invoice.overdue(invoice.number, days), told);
  };
}

function reminder({ seller, invoice }: One, words: Words, subject: string, told: string): Content {
  return letter(seller, words, {
    subject,
    blocks: [
      text(words.hello(invoice.buyerName)),
      text(told),
      ...sheet(invoice, words, words.invoice.pay),
      text(words.invoice.ignore),
    ],
  });
}

/** The invoice itself and where to pay it. */
function sheet(invoice: InvoiceMail, words: Words, label: string): readonly Block[] {
  const { fields } = words;
  const { total, outstanding, notes } = invoice;
  return [
    {
      kind: "facts",
      rows: [
        [fields.invoice, invoice.number],
        [fields.issued, words.date(invoice.issuedAt)],
        [fields.due, words.date(invoice.dueAt)],
        ...(notes ? [[fields.notes, notes] as const] : []),
      ],
    },
    {
      kind: "lines",
      rows: [
        ...invoice.lines.map(
          ({ name, quantity, amount }) => [words.quantity(name, quantity), amount] as const,
        ),
        ...(outstanding === total ? [] : [[fields.total, total] as const]),
      ],
      total: outstanding === total ? [fields.total, total] : [fields.outstanding, outstanding],
    },
    { kind: "link", label, url: invoice.url },
  ];
}

const text = (said: string): Block => ({ kind: "text", text: said });

function letter(seller: Seller, words: Words, content: Omit<Content, "footer">): Content {
  return { ...content, footer: words.sentFor(seller.name, seller.contactEmail !== null) };
}
