/** A listener who does not care. */
export function say(_line: string): void {}
