import { html } from "hono/html";
import type { Block, Content, Row } from "./content.ts";

/** Everything inline, nothing fetched. No colours of paper and ink: the reader's program has its own, light or dark. */
const FONT =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;font-size:16px;line-height:1.5";
const PAGE = `margin:0 auto;padding:24px 16px;max-width:560px;${FONT}`;
const TABLE = "width:100%;border-collapse:collapse;margin:0 0 20px";
const CELL = "padding:6px 0;vertical-align:top;border-bottom:1px solid #8886;overflow-wrap:anywhere";
// Our own short words: a long value beside them must not break them.
const LABEL = `${CELL};padding-right:12px;opacity:.75;white-space:nowrap`;
const AMOUNT = `${CELL};padding-left:12px;text-align:right;white-space:nowrap`;
const BUTTON =
  "display:inline-block;padding:12px 20px;border-radius:8px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none";

/** The HTML body; every text is escaped where it is put in. */
export function htmlOf({ subject, blocks, footer }: Content, lang: string): string {
  return String(html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
</head>
<body style="margin:0;padding:0">
<div style="${PAGE}">
<h1 style="margin:0 0 20px;font-size:20px;line-height:1.3;overflow-wrap:anywhere">${subject}</h1>
${blocks.map(blockHtml)}
<p style="margin:28px 0 0;font-size:13px;opacity:.75;overflow-wrap:anywhere">${footer}</p>
</div>
</body>
</html>
`);
}

function blockHtml(block: Block) {
  switch (block.kind) {
    case "text":
      return html`<p style="margin:0 0 16px;overflow-wrap:anywhere">${block.text}</p>
`;
    case "facts":
      return html`<table role="presentation" style="${TABLE}">${block.rows.map(factHtml)}</table>
`;
    case "lines":
      return html`<table style="${TABLE}">${block.rows.map((row) => lineHtml(row, "400"))}${lineHtml(block.total, "700")}</table>
`;
    case "link":
      return html`<p style="margin:0 0 8px"><a href="${block.url}" style="${BUTTON}">${block.label}</a></p>
<p style="margin:0 0 24px;font-size:13px;opacity:.75;overflow-wrap:anywhere">${block.url}</p>
`;
  }
}

function factHtml([label, value]: Row) {
  return html`<tr><td style="${LABEL}">${label}</td><td style="${CELL}">${value}</td></tr>`;
}

function lineHtml([label, value]: Row, weight: string) {
  return html`<tr><td style="${CELL};font-weight:${weight}">${label}</td><td style="${AMOUNT};font-weight:${weight}">${value}</td></tr>`;
}
