// The package ships no types; only what is called is declared.
declare module "secp256k1/bindings" {
  /** Public key behind a signature of 64 bytes; throws where there is none. 65 bytes when `compressed` is false. */
  export function ecdsaRecover(
    signature: Uint8Array,
    recovery: number,
    digest: Uint8Array,
    compressed: boolean,
  ): Uint8Array;
}
