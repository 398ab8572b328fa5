/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Field, Rule, Shape } from "../fields.ts";
import { Prose } from "./prose.tsx";

/** Who writes a body must know what it needs; who reads one, what it may lack. */
export type Side = "asked" | "answered";

interface FieldsProps {
  readonly of: readonly Field[];
  readonly side: Side;
}

export function Fields({ of, side }: FieldsProps) {
  return (
    <ul class="fields">
      {of.map((field) => (
        <li>
          <p class="field">
            <code class="name">{field.name}</code> <span class="type">{field.type}</span>
            {side === "asked" && field.isRequired ? <span class="must">required</span> : null}
            {side === "answered" && !field.isRequired ? <span class="must">not always there</span> : null}
            {field.isDeprecated ? <span class="old">deprecated</span> : null}
          </p>
          <Prose text={field.about} />
          <Limits of={field} />
          <Inside of={field} side={side} />
        </li>
      ))}
    </ul>
  );
}

/** A whole body: what it is, and its members in plain sight. */
export function Body({ of, side }: { readonly of: Shape; readonly side: Side }) {
  return (
    <>
      <p class="field">
        <span class="type">{of.type}</span>
      </p>
      <Prose text={of.about} />
      <Limits of={of} />
      {of.fields.length > 0 ? <Fields of={of.fields} side={side} /> : null}
      <Choices of={of.choices} side={side} />
      {side === "asked" && of.isClosed ? <p class="hint">Members that are not listed are refused.</p> : null}
    </>
  );
}

function Limits({ of: { rules, values } }: { readonly of: Shape }) {
  return (
    <>
      {rules.length > 0 ? (
        <ul class="rules">
          {rules.map((rule) => (
            <li>
              <RuleText of={rule} />
            </li>
          ))}
        </ul>
      ) : null}
      {values.length > 0 ? (
        <ul class="values" aria-label="Values">
          {values.map((value) => (
            <li>
              <code>{value}</code>
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

function RuleText({ of: { words, code } }: { readonly of: Rule }) {
  return (
    <>
      {words} {code === undefined ? null : <code>{code}</code>}
    </>
  );
}

/** What a member holds, folded away. */
function Inside({ of: { name, fields, choices }, side }: { readonly of: Field; readonly side: Side }) {
  if (fields.length === 0 && choices.length === 0) return null;
  return (
    <details class="inside">
      <summary>
        Members of <code>{name}</code>
      </summary>
      {fields.length > 0 ? <Fields of={fields} side={side} /> : null}
      <Choices of={choices} side={side} />
    </details>
  );
}

function Choices({ of, side }: { readonly of: readonly Shape[]; readonly side: Side }) {
  return (
    <>
      {of.map((shape, i) => (
        <details class="inside">
          <summary>
            {i === 0 ? "Either" : "Or"} <span class="type">{shape.type}</span>
          </summary>
          <Prose text={shape.about} />
          <Limits of={shape} />
          {shape.fields.length > 0 ? <Fields of={shape.fields} side={side} /> : null}
          <Choices of={shape.choices} side={side} />
        </details>
      ))}
    </>
  );
}
