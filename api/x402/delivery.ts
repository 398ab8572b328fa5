import type { Context } from "hono";

/** The response of Node behind this one; absent when a test calls the app without a socket. */
interface NodeResponse {
  readonly writableFinished: boolean;
  /** Its socket is gone, perhaps before anybody listened for that. */
  readonly destroyed: boolean;
  once(event: "close", heard: () => void): unknown;
}

/** Whether the answer to a request still has somebody to go to. */
export interface Delivery {
  /** Aborted when the caller is gone. */
  readonly closed: AbortSignal;
  /** Calls `undo` once if the answer does not reach the caller's socket, be it gone already or later. */
  orElse(undo: () => void): void;
}

/** Follows the response's socket. The request's own signal is left alone where there is a socket: asking for it makes
 *  the server build a whole Request. */
export function followDelivery(c: Context): Delivery {
  const outgoing = (c.env as { readonly outgoing?: NodeResponse } | undefined)?.outgoing;
  const controller = new AbortController();
  let undoOnce: (() => void) | null = null;
  const lost = () => {
    controller.abort();
    undoOnce?.();
    undoOnce = null;
  };
  if (outgoing) {
    if (outgoing.destroyed && !outgoing.writableFinished) lost();
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) lost();
    });
  } else {
    const { signal } = c.req.raw;
    if (signal.aborted) lost();
    else signal.addEventListener("abort", lost, { once: true });
  }
  return {
    closed: controller.signal,
    orElse: (undo) => {
      undoOnce = undo;
      if (controller.signal.aborted) lost();
    },
  };
}
