import createKeccakHash from "keccak";

/** What does the package's work behind the stream that it gives. */
interface State {
  initialize(rate: number, capacity: number): void;
  absorb(bytes: Buffer): void;
  squeeze(length: number): Buffer;
}

const RATE = 1088;
const CAPACITY = 512;
const { _state: state } = createKeccakHash("keccak256") as unknown as { readonly _state: State };

/** Keccak-256 of `bytes`. Native where its prebuilt part loads, six times as fast as JavaScript; every signed payment
 *  needs three, and a stream for each would take twice as long as the hash itself. Without the native part the package
 *  computes the same in JavaScript. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  const view = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  state.absorb(view);
  const digest = state.squeeze(32);
  state.initialize(RATE, CAPACITY);
  return digest;
}
