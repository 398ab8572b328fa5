import { Fault } from "#kernel/fault";
import { type ApiFaultCode, apiFaults, fault } from "./faults.ts";

/** Runs `work` whose faults point at a field that the caller of this route did not send, or into it: they point at `to`
 *  instead. */
export async function pointingTo<T>(from: string, to: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault) || !isAt(error.context.pointer, from)) throw error;
    if (!Object.hasOwn(apiFaults, error.code)) throw error;
    throw fault(error.code as ApiFaultCode, { ...error.context, pointer: to }, error);
  }
}

function isAt(pointer: unknown, place: string): boolean {
  return typeof pointer === "string" && (pointer === place || pointer.startsWith(`${place}/`));
}
