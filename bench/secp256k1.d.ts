// The package ships no types; only what signs is declared.
declare module "secp256k1" {
  interface Signed {
    /** r then s, 64 bytes, low s. */
    readonly signature: Uint8Array;
    readonly recid: number;
  }
  const curve: {
    ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): Signed;
    publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
  };
  export default curve;
}
