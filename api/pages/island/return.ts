const AFTER_MS = 5_000;
let isGoing = false;

/** Takes a payer who has just paid here back to the merchant. Who comes for the receipt later may stay. */
export function startReturn(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-return]");
  if (!link || isGoing) return;
  isGoing = true;
  document.querySelector("[data-soon]")?.removeAttribute("hidden");
  setTimeout(() => location.assign(link.href), AFTER_MS);
}
