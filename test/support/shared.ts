/** What all tests of a file share: begun before the first of them, ended after the last. */
import { afterAll, beforeAll } from "vitest";

/** Empty until the first test begins, so tests ask it, and nothing outside of them takes it apart. */
export function shared<T extends object>(
  begin: () => Promise<T>,
  end: (begun: T) => Promise<void> = async () => {},
): T {
  const part = {} as T;
  let begun: T | undefined;
  beforeAll(async () => {
    begun = await begin();
    Object.assign(part, begun);
  });
  afterAll(() => begun && end(begun));
  return part;
}
