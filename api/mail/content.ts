/** A mail before it is text or HTML: both are drawn from the same blocks, so they say the same. */
export interface Content {
  readonly subject: string;
  readonly blocks: readonly Block[];
  /** Why the reader gets it. */
  readonly footer: string;
}
export type Block =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "facts"; readonly rows: readonly Row[] }
  | { readonly kind: "lines"; readonly rows: readonly Row[]; readonly total: Row }
  /** Only where it leads is an address of ours, or of the explorer that the operator names. */
  | { readonly kind: "link"; readonly label: string; readonly url: string };
/** What, and how much or which. */
export type Row = readonly [label: string, value: string];
