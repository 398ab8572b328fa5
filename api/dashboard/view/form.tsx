/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { type Child, createContext, useContext } from "hono/jsx";
import { CSRF, fieldOf, MORE, ONCE, type Refused } from "../form.ts";
import { countRows } from "../rows.ts";
import { placeOf } from "./drawn.ts";
import { useViewer } from "./visit.ts";

export const RefusedContext = createContext<Refused | null>(null);

interface FormProps {
  readonly action: string;
  /** What the button says: the verb. */
  readonly submit: string;
  /** One that cannot be taken back. */
  readonly isGrave?: boolean;
  /** One of several on its page, of which none comes first. */
  readonly isPlain?: boolean;
  /** It carries files. */
  readonly hasFiles?: boolean;
  /** A list of the form, and what the button says that gives it more rows. */
  readonly more?: readonly [list: string, name: string];
  readonly children?: Child;
}

/** A form that is sent to an action: it counts once however often it is sent. Where it was refused, its fields say why; the
 *  layout says it as a whole, since the form may be gone by then. */
export function Form({ action, submit, isGrave, isPlain, hasFiles, more, children }: FormProps) {
  const { csrfToken, newKey, refused } = useViewer();
  const mine = refused?.path === action ? refused : null;
  return (
    <RefusedContext.Provider value={mine}>
      <form method="post" action={action} {...(hasFiles ? { enctype: "multipart/form-data" } : {})}>
        <input type="hidden" name={CSRF} value={csrfToken} />
        <input type="hidden" name={ONCE} value={newKey()} />
        {children}
        <div class="actions">
          <button type="submit" class={isGrave ? "grave" : isPlain ? "" : "primary"}>
            {submit}
          </button>
          {more ? (
            <button type="submit" name={MORE} value={more[0]} formnovalidate>
              {more[1]}
            </button>
          ) : null}
        </div>
      </form>
    </RefusedContext.Provider>
  );
}

export interface FieldProps {
  /** The path of a member of the API's body, with dots. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value?: string | undefined;
  /** What stands in it where nothing was typed into its whole row. */
  readonly valueOfNewRow?: string;
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
        {...(type === "datetime-local" ? { step: "any" } : {})}
      />
    </Labelled>
  );
}

/** Text on several lines. */
export function TextField({ maxLength, ...field }: FieldProps & { readonly maxLength?: number }) {
  const { value, ...manner } = useField(field);
  return (
    <Labelled {...field}>
      <textarea {...manner} {...(maxLength ? { maxlength: maxLength } : {})}>
        {value}
      </textarea>
    </Labelled>
  );
}

/** Yes, where it is checked: then the field says `true`. */
export function Check({ isOn, ...field }: Omit<FieldProps, "value"> & { readonly isOn?: boolean }) {
  const { value, ...manner } = useField({ ...field, value: isOn ? "true" : "" });
  return (
    <Labelled {...field} isAfter={true}>
      <input type="checkbox" {...manner} value="true" {...(value === "true" ? { checked: true } : {})} />
    </Labelled>
  );
}

interface GroupProps {
  /** The member that its fields belong to. */
  readonly name: string;
  readonly legend: string;
  readonly class?: string;
  readonly children?: Child;
}

/** Fields that belong together, with what is wrong with them as a whole. */
export function Group({ name, legend, class: kind = "part", children }: GroupProps) {
  useLabel(name, legend);
  const wrong = useWrong(name);
  return (
    <fieldset class={kind} id={idOf(name)}>
      <legend>{legend}</legend>
      {wrong ? <p class="error">{wrong}</p> : null}
      {children}
    </fieldset>
  );
}

/** How many rows a list of the form has: those that are there or were typed, and empty ones to go on with. */
export function useRows(list: string, { given, spare }: { readonly given: number; readonly spare: number }) {
  const refused = useContext(RefusedContext);
  return refused ? countRows(refused.fields, list) + spare : given + spare;
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

interface LabelledProps extends FieldProps {
  /** The label comes after what it names. */
  readonly isAfter?: boolean;
  readonly children?: Child;
}

/** A field with its label, and beside it what was wrong with it. */
export function Labelled({ name, label, hint, isAfter, children }: LabelledProps) {
  const id = idOf(name);
  useLabel(name, label);
  const wrong = useWrong(name);
  const named = <label for={id}>{label}</label>;
  return (
    <div class={["field", isAfter ? "check" : "", wrong ? "wrong" : ""].join(" ").trim()}>
      {isAfter ? null : named}
      {children}
      {isAfter ? named : null}
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

export function useField({ name, hint, value, valueOfNewRow = "" }: FieldProps) {
  const refused = useContext(RefusedContext);
  const id = idOf(name);
  const wrong = useWrong(name);
  const row = name.slice(0, name.lastIndexOf(".") + 1);
  const isNewRow = refused !== null && !refused.fields.some(([each]) => each.startsWith(row));
  const unsent = isNewRow ? valueOfNewRow : "";
  const told = [wrong ? `${id}-error` : "", hint ? `${id}-hint` : ""].filter((each) => each !== "");
  return {
    id,
    name,
    value: refused ? (fieldOf(refused.fields, name) ?? unsent) : (value ?? valueOfNewRow),
    ...(wrong ? { "aria-invalid": "true" as const } : {}),
    ...(told.length > 0 ? { "aria-describedby": told.join(" ") } : {}),
  };
}

/** What is to be said at this field or group: what was wrong with it, or with what it holds and no other shows. */
export function useWrong(name: string): string | undefined {
  const { drawn } = useViewer();
  const own = name.replace(/\[\]$/, "");
  return useContext(RefusedContext)?.errors.find((error) => placeOf(error.name, drawn) === own)?.detail;
}

/** Notes what a field or group is called, for what is said of it elsewhere. */
export function useLabel(name: string, label: string): void {
  useViewer().drawn.set(name.replace(/\[\]$/, ""), label);
}

export function idOf(name: string): string {
  return `field-${name.replaceAll(/[^\w-]/g, "-")}`;
}
