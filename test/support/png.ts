/** Pictures made byte by byte, right ones and wrong ones. */
import { crc32, deflateSync } from "node:zlib";

const samples: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A picture of 2 × 2 grey pixels unless told otherwise. */
export function png(over: {
  readonly width?: number;
  readonly height?: number;
  readonly colourType?: number;
  readonly bits?: number;
  readonly interlace?: number;
  readonly filter?: number;
  readonly rows?: number;
  readonly palette?: Buffer;
  readonly data?: Buffer;
  /** Of each sample. */
  readonly value?: number;
}): Buffer {
  const { width = 2, height = 2, colourType = 0, bits = 8, interlace = 0, filter = 0, value = 1 } = over;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([bits, colourType, 0, 0, interlace], 8);
  const line = width > 4_096 ? 2 : 1 + (width * (samples[colourType] ?? 1) * bits) / 8;
  const rows = Buffer.alloc(line * (over.rows ?? height), value);
  for (let at = 0; at < rows.length; at += line) rows[at] = filter;
  const palette = over.palette ?? (colourType === 3 ? Buffer.from("0a5c36ffffff", "hex") : Buffer.alloc(0));
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", head),
    ...(palette.length > 0 ? [chunk("PLTE", palette)] : []),
    ...(colourType === 3 ? [chunk("tRNS", Buffer.from([255, 0]))] : []),
    chunk("IDAT", over.data ?? deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
