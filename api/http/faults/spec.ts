import type { FaultSpec } from "#kernel/fault";

/** A fault of this layer; `status` only where HTTP has one of its own for it. */
export interface ApiFaultSpec extends FaultSpec {
  readonly status?: 405 | 406;
}
