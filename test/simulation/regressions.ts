/** Seeds that failed once, and what they showed. They are lived first, by every run. */
export const regressions: readonly { readonly seed: number; readonly showed: string }[] = [];
