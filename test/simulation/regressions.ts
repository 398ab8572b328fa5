/** Seeds that failed once, and what they showed. They are lived first, by every run. */
export const regressions: readonly { readonly seed: number; readonly showed: string }[] = [
  {
    seed: 505,
    showed:
      "a payment was claimed before anybody followed the chain; a stranger made it, and nobody ever saw that",
  },
  {
    seed: 297,
    showed:
      "a stranger's payment in the very block at which following began was claimed, and is in no block that is recorded",
  },
  {
    seed: 60_084,
    showed:
      "a process that could not read whether its chain is followed claimed a payment before it was, and nobody ever saw it",
  },
  {
    seed: 77_366,
    showed:
      "two processes adopted one gas key, and the slower one booked what it held after the other had spent some",
  },
  {
    seed: 15_392,
    showed:
      "a payer signed one nonce twice and moved less with it; a view that lagged let the payment be sent, and it stayed under way for ever",
  },
  {
    seed: 94_640,
    showed:
      "a turn failed after a block was recorded, and that block left the chain: the next turns began before it, and failed until the lease was renewed",
  },
  {
    seed: 49_163,
    showed:
      "the made-up endpoint denied the receipt of a block that it had said is final, by the branch of its own that it followed: somebody else was taken to have used the gas key",
  },
  {
    seed: 363_240,
    showed:
      "a payer of whom three payments failed was told to rest, which no seed before had come to: the oracle took it for a bug",
  },
];
