/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Speech } from "../words/index.ts";
import { roomFor } from "./room.ts";

interface FieldProps {
  readonly id: string;
  readonly label: string;
  /** Exactly what is copied. */
  readonly value: string;
  readonly unit?: string;
  /** Shown in groups of four, so that it can be compared by eye. */
  readonly isGrouped?: boolean;
  readonly copyLabel: string;
  readonly speech: Speech;
}

/** A value to be copied, with the button where there is a script; without one it selects whole at a click. */
export function Field({ id, label, value, unit, isGrouped, copyLabel, speech }: FieldProps) {
  return (
    <div class="field">
      <span class="label" id={`${id}-label`}>
        {label}
      </span>
      <div class="copyable">
        <span
          class={isGrouped ? "value mono" : "value big"}
          id={id}
          data-room={isGrouped ? undefined : roomFor(value)}
        >
          {isGrouped
            ? groups(value).map((group, i) => <span class={i % 2 ? "odd" : ""}>{group}</span>)
            : value}
        </span>
        {unit ? <span class="unit">{unit}</span> : null}
        <button type="button" class="copy" data-copy={value} aria-label={copyLabel} hidden>
          {speech.say("copy")}
        </button>
      </div>
    </div>
  );
}

function groups(text: string): readonly string[] {
  const [head, rest] = text.startsWith("0x") ? ["0x", text.slice(2)] : ["", text];
  const parts = rest.match(/.{1,4}/g) ?? [];
  return [`${head}${parts[0] ?? ""}`, ...parts.slice(1)];
}
