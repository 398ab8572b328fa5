const AFTER_MS = 5_000;
let isGoing = false;

/** Takes a payer who is done back to the merchant. */
export function startReturn(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-return]");
  if (!link || isGoing) return;
  isGoing = true;
  setTimeout(() => location.assign(link.href), AFTER_MS);
}
