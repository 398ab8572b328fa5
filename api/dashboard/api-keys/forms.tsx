/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { permissions, presets } from "../../http/permissions.ts";
import type { ApiKey } from "../../merchant/schema.ts";
import { ConfirmPage } from "../view/confirm.tsx";
import { Carried, Checks, Lines } from "../view/fields.tsx";
import { Choice, Field, Form } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { useViewer } from "../view/visit.ts";

const PATH = "/dashboard/api-keys";

export function NewKeyPage({ kind }: { readonly kind: ApiKey["kind"] }) {
  const isSecret = kind === "sk";
  return (
    <>
      <Heading
        title={isSecret ? "New secret key" : "New publishable key"}
        about={
          isSecret
            ? "For your servers. It may do no more than the key that you are signed in with."
            : "For your pages: it can be seen by everybody, and works from your origins only."
        }
        above={[PATH, "API keys"]}
      />
      <div class="card narrow">
        <Form action={PATH} submit="Create the key">
          <Carried name="kind" value={kind} />
          <Field
            name="name"
            label="Name"
            isRequired
            maxLength={140}
            hint="What it is for, such as shop server."
          />
          {isSecret ? <Allowed /> : <Origins />}
          <details class="fold">
            <summary>Where from, and until when</summary>
            <Lines
              name="allowedIps"
              label="Addresses"
              hint={`IP addresses or ranges, one on each line. None: ${isSecret ? "as the key that you are signed in with" : "everywhere"}.`}
            />
            <Field
              name="expiresAt"
              label="Expires"
              type="datetime-local"
              hint="In UTC. Left empty it stays good as long as the key that you are signed in with."
            />
          </details>
        </Form>
      </div>
    </>
  );
}

function Allowed() {
  const { may } = useViewer();
  const grantable = permissions.filter(may);
  const possible = Object.entries(presets).filter(([, given]) => given.every(may));
  return (
    <>
      <Choice
        name="preset"
        label="May do"
        options={[
          ["", "what is chosen below"],
          ...possible.map(([name, given]) => [name, `${name}: ${countOf(given.length)}`] as const),
        ]}
      />
      <Checks
        name="permissions[]"
        label="Permissions"
        hint="Choose either a set above or single ones here."
        options={grantable.map((permission) => ({ value: permission, label: permission }))}
      />
    </>
  );
}

function countOf(count: number): string {
  return count === permissions.length ? "everything" : `${count} permissions`;
}

function Origins() {
  return (
    <Lines
      name="allowedOrigins"
      label="Origins"
      hint="Such as https://shop.example or https://*.shop.example, one on each line. None: those of the settings."
    />
  );
}

export function RotateKeyPage({ of }: { readonly of: ApiKey }) {
  return (
    <ConfirmPage
      title="Replace this key?"
      above={[`${PATH}/${of.id}`, of.name]}
      action={`${PATH}/${of.id}/rotate`}
      submit="Replace it"
    >
      <p class="lead">
        A new key like <strong>{of.name}</strong> is made and shown once. The old one stays good for a while,
        so that your servers can change over.
      </p>
      <OwnKey of={of} />
      <Field
        name="graceSeconds"
        label="The old one stays good for"
        inputmode="numeric"
        hint="Seconds, up to 604800: a week. 0 ends it at once."
        value="86400"
      />
    </ConfirmPage>
  );
}

export function RevokeKeyPage({ of }: { readonly of: ApiKey }) {
  return (
    <ConfirmPage
      title="Revoke this key?"
      above={[`${PATH}/${of.id}`, of.name]}
      action={`${PATH}/${of.id}/revoke`}
      submit="Revoke it"
    >
      <p class="lead">
        Whatever uses <strong>{of.name}</strong> is refused within five seconds. A revoked key stays revoked.
      </p>
      <OwnKey of={of} />
    </ConfirmPage>
  );
}

function OwnKey({ of }: { readonly of: ApiKey }) {
  const { keyId } = useViewer();
  if (of.keyId !== keyId) return null;
  return <p class="warning lead">You are signed in with this key: the session ends with it.</p>;
}
