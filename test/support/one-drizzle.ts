/** Tests run the drizzle that the service runs. Loaded before all else by every worker of the `real` project. */
import module from "node:module";
import { drizzleEntity, ofOneDrizzle } from "../../src/one-drizzle.ts";

interface Loaded {
  readonly source: string | Uint8Array;
}
type Load = (url: string, context: object, next: (url: string, context: object) => Loaded) => Loaded;

// The oldest node that the service runs on, whose types these are, does not have it; the one that tests run on does.
const { registerHooks } = module as unknown as { registerHooks(hooks: { readonly load: Load }): void };

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!drizzleEntity.test(url)) return loaded;
    return { ...loaded, source: ofOneDrizzle(Buffer.from(loaded.source).toString()) };
  },
});
