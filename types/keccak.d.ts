/** The part of the package that is used; it ships no types. */
declare module "keccak" {
  interface Hash {
    update(data: Buffer): Hash;
    digest(): Buffer;
  }
  export default function createKeccakHash(algorithm: "keccak256"): Hash;
}
