/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import QRCode from "qrcode";

const QUIET = 4;

/** A code as one path of squares: no picture to load, nothing that a policy forbids. */
export function Qr({ text, label }: { readonly text: string; readonly label: string }) {
  const { modules } = QRCode.create(text, { errorCorrectionLevel: "M" });
  const side = modules.size + 2 * QUIET;
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${side} ${side}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={side} height={side} fill="#fff" />
      <path d={pathOf(modules)} fill="#111" />
    </svg>
  );
}

/** One run of dark modules after the other. */
function pathOf({ size, data }: { readonly size: number; readonly data: Uint8Array }): string {
  const runs: string[] = [];
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      if (!data[y * size + x]) continue;
      const from = x;
      while (x < size && data[y * size + x]) x += 1;
      runs.push(`M${from + QUIET} ${y + QUIET}h${x - from}v1h-${x - from}z`);
    }
  }
  return runs.join("");
}
