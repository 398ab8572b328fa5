import { cleanText, cutText } from "#kernel/text";
import type { Block, Content, Row } from "./content.ts";
import { htmlOf } from "./html.ts";
import type { Message } from "./message.ts";
import { contentOf } from "./templates/index.ts";
import { words } from "./words/index.ts";

/** The longest subject, sentence and field. */
const LONGEST = { subject: 150, text: 600, value: 2_000 };

/** A mail's subject and both its bodies. Everything in it is cleaned here once more, whoever wrote it: on one line,
 *  without markup or hidden characters. */
export function render(message: Message): {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
} {
  const { subject, blocks, footer } = contentOf(message, words);
  const content: Content = {
    subject: plain(subject, LONGEST.subject),
    blocks: blocks.flatMap(tidy),
    footer: plain(footer, LONGEST.text),
  };
  return { subject: content.subject, text: textOf(content), html: htmlOf(content, words.lang) };
}

const plain = (text: string, longest: number) => cutText(cleanText(text), longest);
const tidyRow = ([label, value]: Row): Row => [plain(label, LONGEST.value), plain(value, LONGEST.value)];

function tidy(block: Block): readonly Block[] {
  switch (block.kind) {
    case "text":
      return [{ ...block, text: plain(block.text, LONGEST.text) }];
    case "facts":
      return [{ ...block, rows: block.rows.map(tidyRow) }];
    case "lines":
      return [{ ...block, rows: block.rows.map(tidyRow), total: tidyRow(block.total) }];
    case "link":
      return isWeb(block.url) ? [{ ...block, label: plain(block.label, LONGEST.text) }] : [];
  }
}

function isWeb(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function textOf({ blocks, footer }: Content): string {
  return `${blocks.map(blockText).join("\n\n")}\n\n-- \n${footer}\n`;
}

function blockText(block: Block): string {
  switch (block.kind) {
    case "text":
      return block.text;
    case "facts":
      return block.rows.map(rowText).join("\n");
    case "lines":
      return [...block.rows.map((row) => `- ${rowText(row)}`), rowText(block.total)].join("\n");
    case "link":
      return `${block.label}:\n${block.url}`;
  }
}

const rowText = ([label, value]: Row) => `${label}: ${value}`;
