/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { useContext } from "hono/jsx";
import { type FieldProps, idOf, Labelled, RefusedContext, useField, useLabel, useWrong } from "./form.tsx";

/** A field of several lines. */
export function Lines({ rows = 3, ...field }: FieldProps & { readonly rows?: number }) {
  const { value, ...manner } = useField(field);
  return (
    <Labelled {...field}>
      <textarea {...manner} rows={rows} spellcheck={false}>
        {value}
      </textarea>
    </Labelled>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
}

/** Any of several. */
export function Checks({
  name,
  label,
  hint,
  options,
  chosen = [],
}: Omit<FieldProps, "value"> & { readonly options: readonly Option[]; readonly chosen?: readonly string[] }) {
  const refused = useContext(RefusedContext);
  useLabel(name, label);
  const wrong = useWrong(name);
  const ticked = refused
    ? refused.fields.filter(([each]) => each === name).map(([, value]) => value)
    : chosen;
  return (
    <fieldset class={wrong ? "checks wrong" : "checks"} id={idOf(name.replace(/\[\]$/, ""))}>
      <legend>{label}</legend>
      {wrong ? <p class="error">{wrong}</p> : null}
      {hint ? <p class="hint">{hint}</p> : null}
      <div>
        {options.map((option) => (
          <label class="check">
            <input
              type="checkbox"
              name={name}
              value={option.value}
              {...(ticked.includes(option.value) ? { checked: true } : {})}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** A file of the sender's. After a refusal it has to be chosen again: no page can fill it in. */
export function FileField({ accept, ...field }: Omit<FieldProps, "value"> & { readonly accept: string }) {
  const { value: _, ...manner } = useField(field);
  return (
    <Labelled {...field}>
      <input type="file" accept={accept} {...manner} />
    </Labelled>
  );
}

/** One thing that is so or is not. */
export function Tick({ name, label, hint, isOn }: Omit<FieldProps, "value"> & { readonly isOn: boolean }) {
  const { value, ...manner } = useField({ name, label, hint, value: isOn ? "true" : "" });
  useLabel(name, label);
  return (
    <div class="field tick">
      <label class="check">
        <input type="checkbox" {...manner} value="true" {...(value === "true" ? { checked: true } : {})} />
        <span>{label}</span>
      </label>
      {hint ? (
        <p class="hint" id={`${idOf(name)}-hint`}>
          {hint}
        </p>
      ) : null}
    </div>
  );
}

/** What a form carries along without asking. */
export function Carried({ name, value }: { readonly name: string; readonly value: string }) {
  return <input type="hidden" name={name} value={value} />;
}
