/** Pictures that merchants hand in, read to the last byte before anything shows them. */
import { crc32, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
/** Samples of a pixel, by colour type. */
const samples: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const KEPT = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
const FILTERS = 5;
const SIDE = 1_024;

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** A PNG of 8 bits a sample without anything but its picture (what cameras and editors write into it is left out), or null
 *  for anything else. What comes back can be decoded by anybody, at a cost that is known: at most 1024 × 1024 pixels. */
export function readPng(bytes: Buffer): Buffer | null {
  const chunks = bytes.subarray(0, 8).equals(SIGNATURE) ? chunksOf(bytes.subarray(8)) : null;
  if (!chunks || !isWhole(chunks)) return null;
  const kept = chunks.filter(({ type }) => KEPT.has(type));
  return Buffer.concat([SIGNATURE, ...kept.map(written)]);
}

/** Null when one is cut, or does not have the sum that it says; nothing may follow the last. */
function chunksOf(bytes: Buffer): readonly Chunk[] | null {
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.length - at >= 12 ? bytes.readUInt32BE(at) : bytes.length;
    const end = at + 8 + length;
    if (end + 4 > bytes.length) return null;
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return null;
    chunks.push({ type: bytes.toString("latin1", at + 4, at + 8), data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}

function written({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function isWhole(chunks: readonly Chunk[]): boolean {
  const types = chunks.map(({ type }) => type).filter((type) => KEPT.has(type));
  if (!/^IHDR,(PLTE,)?(tRNS,)?(IDAT,)+IEND$/.test(types.join(","))) return false;
  const head = headOf(chunks[0]?.data ?? Buffer.alloc(0));
  return head !== null && hasItsColours(chunks, head.colourType) && isFull(chunks, head);
}

interface Head {
  readonly width: number;
  readonly height: number;
  readonly colourType: number;
}

/** 8 bits, deflated, not interlaced, of a size that can be shown. */
function headOf(data: Buffer): Head | null {
  if (data.length !== 13) return null;
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
  const [bits, colourType = -1, ...rest] = data.subarray(8);
  const isSmall = width >= 1 && width <= SIDE && height >= 1 && height <= SIDE;
  return isSmall && bits === 8 && colourType in samples && rest.every((byte) => byte === 0)
    ? { width, height, colourType }
    : null;
}

function hasItsColours(chunks: readonly Chunk[], colourType: number): boolean {
  const palette = chunks.find(({ type }) => type === "PLTE")?.data.length ?? 0;
  const clear = chunks.find(({ type }) => type === "tRNS")?.data.length;
  if (palette % 3 !== 0 || palette > 768 || (palette === 0) === (colourType === 3)) return false;
  if (clear === undefined) return true;
  if (colourType === 3) return clear <= palette / 3;
  return colourType === 0 ? clear === 2 : colourType === 2 && clear === 6;
}

/** Whether there is a row for each line, and nothing beside them. */
function isFull(chunks: readonly Chunk[], { width, height, colourType }: Head): boolean {
  const packed = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data));
  const line = 1 + width * (samples[colourType] ?? 0);
  const rows = inflated(packed, line * height);
  if (rows?.length !== line * height) return false;
  for (let at = 0; at < rows.length; at += line) if ((rows[at] ?? FILTERS) >= FILTERS) return false;
  return true;
}

function inflated(packed: Buffer, most: number): Buffer | null {
  try {
    return inflateSync(packed, { maxOutputLength: most });
  } catch {
    return null;
  }
}
