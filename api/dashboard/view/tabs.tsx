/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */

/** What a list is narrowed by, as its address says it. */
export type Asked = Readonly<Partial<Record<string, string>>>;

interface TabsProps {
  readonly label: string;
  readonly path: string;
  /** Each with what its address asks for. */
  readonly tabs: readonly (readonly [name: string, query: Asked])[];
  readonly asked: Asked;
}

/** Ways to narrow a list, of which one is on. */
export function Tabs({ label, path, tabs, asked }: TabsProps) {
  const names = [...new Set(tabs.flatMap(([, query]) => Object.keys(query)))];
  const isOn = (query: Asked) => names.every((name) => asked[name] === query[name]);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, query]) => (
        <a href={addressOf(path, query)} {...(isOn(query) ? { "aria-current": "page" } : {})}>
          {name}
        </a>
      ))}
    </nav>
  );
}

function addressOf(path: string, query: Asked): string {
  const text = new URLSearchParams(query as Record<string, string>).toString();
  return text === "" ? path : `${path}?${text}`;
}
