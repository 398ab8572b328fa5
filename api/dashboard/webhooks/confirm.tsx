/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { WebhookEndpoint } from "../../webhook/schema.ts";
import { ConfirmPage } from "../view/confirm.tsx";
import { Field } from "../view/form.tsx";

const pathOf = ({ id }: WebhookEndpoint) => `/dashboard/webhooks/${id}`;

export function RotateSecretPage({ of }: { readonly of: WebhookEndpoint }) {
  return (
    <ConfirmPage
      title="Replace the secret?"
      above={[pathOf(of), "The endpoint"]}
      action={`${pathOf(of)}/rotate`}
      submit="Replace it"
    >
      <p class="lead">
        Deliveries to <strong>{of.url}</strong> are signed with a new secret, which is shown once. The old one
        signs as well for a while, so that your server can change over.
      </p>
      <Field
        name="graceSeconds"
        label="The old one signs for"
        inputmode="numeric"
        hint="Seconds, up to 259200: three days. 0 ends it at once."
        value="86400"
      />
    </ConfirmPage>
  );
}

export function DeleteEndpointPage({ of }: { readonly of: WebhookEndpoint }) {
  return (
    <ConfirmPage
      title="Delete this endpoint?"
      above={[pathOf(of), "The endpoint"]}
      action={`${pathOf(of)}/delete`}
      submit="Delete it"
    >
      <p class="lead">
        Nothing is sent to <strong>{of.url}</strong> any more. What was queued for it is dropped with its log.
      </p>
    </ConfirmPage>
  );
}
