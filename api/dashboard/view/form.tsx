/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { type Child, createContext, useContext } from "hono/jsx";
import { CSRF, fieldOf, ONCE, type Refused } from "../form.ts";
import { useViewer } from "./visit.ts";

export const RefusedContext = createContext<Refused | null>(null);

interface FormProps {
  readonly action: string;
  /** What the button says: the verb. */
  readonly submit: string;
  /** One that cannot be taken back. */
  readonly isGrave?: boolean;
  readonly children?: Child;
}

/** A form that is sent to an action: it counts once however often it is sent, and says itself why it was refused. */
export function Form({ action, submit, isGrave, children }: FormProps) {
  const { csrfToken, newKey, refused } = useViewer();
  const mine = refused?.path === action ? refused : null;
  return (
    <RefusedContext.Provider value={mine}>
      <form method="post" action={action}>
        <input type="hidden" name={CSRF} value={csrfToken} />
        <input type="hidden" name={ONCE} value={newKey()} />
        {mine ? <Problem of={mine} /> : null}
        {children}
        <button type="submit" class={isGrave ? "grave" : "primary"}>
          {submit}
        </button>
      </form>
    </RefusedContext.Provider>
  );
}

/** What was wrong, with a way to each field that it is about. */
export function Problem({
  of: { title, detail, errors },
}: {
  readonly of: Pick<Refused, "title" | "detail" | "errors">;
}) {
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      <p>{detail}</p>
      {errors.length === 0 ? null : (
        <ul>
          {errors.map((error) => (
            <li>
              <a href={`#${idOf(error.name)}`}>{error.name === "" ? "the form" : error.name}</a>:{" "}
              {error.detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export interface FieldProps {
  /** The path of a member of the API's body, with dots. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value?: string | undefined;
}
interface InputProps extends FieldProps {
  readonly type?: "text" | "email" | "url" | "password" | "number" | "date" | "datetime-local" | "search";
  readonly inputmode?: "decimal" | "numeric";
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  readonly autocomplete?: string;
}

/** A field of a form, with what was wrong with it beside it and what was typed still in it. */
export function Field({ type = "text", inputmode, isRequired, maxLength, ...field }: InputProps) {
  const { value, ...manner } = useField(field);
  return (
    <Labelled {...field}>
      <input
        type={type}
        {...manner}
        value={value}
        autocomplete={field.autocomplete ?? "off"}
        {...(inputmode ? { inputmode } : {})}
        {...(isRequired ? { required: true } : {})}
        {...(maxLength ? { maxlength: maxLength } : {})}
      />
    </Labelled>
  );
}

/** One of several. */
export function Choice({
  options,
  ...field
}: FieldProps & { readonly options: readonly (readonly [value: string, name: string])[] }) {
  const { value, ...manner } = useField(field);
  return (
    <Labelled {...field}>
      <select {...manner}>
        {options.map(([each, name]) => (
          <option value={each} {...(each === value ? { selected: true } : {})}>
            {name}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** A field with its label, and beside it what was wrong with it. */
export function Labelled({ name, label, hint, children }: FieldProps & { readonly children?: Child }) {
  const id = idOf(name);
  const wrong = useWrong(name);
  return (
    <div class={wrong ? "field wrong" : "field"}>
      <label for={id}>{label}</label>
      {children}
      {wrong ? (
        <p class="error" id={`${id}-error`}>
          {wrong}
        </p>
      ) : null}
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
    </div>
  );
}

export function useField({ name, hint, value }: FieldProps) {
  const refused = useContext(RefusedContext);
  const id = idOf(name);
  const wrong = useWrong(name);
  const told = [wrong ? `${id}-error` : "", hint ? `${id}-hint` : ""].filter((each) => each !== "");
  return {
    id,
    name,
    value: refused ? (fieldOf(refused.fields, name) ?? "") : (value ?? ""),
    ...(wrong ? { "aria-invalid": "true" as const } : {}),
    ...(told.length > 0 ? { "aria-describedby": told.join(" ") } : {}),
  };
}

/** What was wrong with this field, or with an item of the list that it holds. */
export function useWrong(name: string): string | undefined {
  const whole = name.replace(/\[\]$/, "");
  return useContext(RefusedContext)?.errors.find(
    (error) => error.name === whole || error.name.startsWith(`${whole}.`),
  )?.detail;
}

export function idOf(name: string): string {
  return `field-${name.replaceAll(/[^\w-]/g, "-")}`;
}
