/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { ResourceTrial } from "../../resource/schema.ts";
import { Heading } from "../view/heading.tsx";
import { Facts, Time } from "../view/shown.tsx";

type Found = ResourceTrial["findings"];

/** What is wrong, and what to change. */
export function Findings({ of }: { readonly of: Found }) {
  if (of.length === 0) return null;
  return (
    <ul class="findings">
      {of.map(({ code, detail }) => (
        <li>
          <strong>{code.replaceAll("_", " ")}</strong>
          <p>{detail}</p>
        </li>
      ))}
    </ul>
  );
}

/** How an endpoint fared just now. */
export function TrialPage({ path, trial }: { readonly path: string; readonly trial: ResourceTrial }) {
  const { ok, status, at, findings } = trial;
  return (
    <>
      <Heading
        title={ok ? "An agent could pay there" : "An agent could not pay there as it is"}
        above={[path, "The resource"]}
      />
      <div class="card narrow">
        <Facts
          of={[
            ["Asked", <Time at={at} />],
            ["Answer", status === null ? "none came" : String(status)],
          ]}
        />
        {findings.length === 0 ? <p>Nothing was found to change.</p> : <Findings of={findings} />}
      </div>
    </>
  );
}

/** A registration that succeeded, with something to know. */
export function RegisteredPage({ path, findings }: { readonly path: string; readonly findings: Found }) {
  return (
    <>
      <Heading
        title="Registered, with something to look at"
        about="It is on sale. This is what agents or discovery readers would stumble over."
        above={["/dashboard/resources", "x402 resources"]}
      />
      <div class="card narrow">
        <Findings of={findings} />
        <p>
          <a class="button" href={path}>
            To the resource
          </a>
        </p>
      </div>
    </>
  );
}
