/** Seeds that failed once, and what they showed. They are lived first, by every run. */
export const regressions: readonly { readonly seed: number; readonly showed: string }[] = [
  {
    seed: 505,
    showed:
      "a payment was claimed before anybody followed the chain; a stranger made it, and nobody ever saw that",
  },
];
