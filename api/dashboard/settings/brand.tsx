/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Merchant } from "../../merchant/schema.ts";
import { inkOn } from "../../pages/brand.ts";
import { FileField, Tick } from "../view/fields.tsx";
import { Field, Form } from "../view/form.tsx";
import { Card } from "../view/heading.tsx";

/** The box that takes the picture away. */
export const NO_LOGO = "noLogo";

/** Of the pages where no colour was chosen. */
const OURS = "#12372a";

/** How pages and receipts of a merchant look. */
export function BrandCard({ of }: { readonly of: Merchant }) {
  return (
    <Card title="Look">
      <p class="hint">Of the pages where you are paid, and of receipts.</p>
      <Preview of={of} />
      <Form action="/dashboard/settings/brand" submit="Save the look" isPlain={true} hasFiles={true}>
        <Field
          name="brandColour"
          label="Colour"
          maxLength={7}
          hint="Such as #0a5c36. What is written on it is black or white, whichever is easier to read; left empty it is ours."
          value={of.brandColour ?? ""}
        />
        <FileField
          name="logo"
          label="Picture"
          accept="image/png"
          hint="A PNG of 8 bits, not interlaced, at most 1024 × 1024 pixels and 32 KiB. Without one the present picture stays."
        />
        {of.logo ? <Tick name={NO_LOGO} label="Take the present picture away" isOn={false} /> : null}
      </Form>
    </Card>
  );
}

/** Drawn, since a colour in a style would break the policy of the page. */
function Preview({ of: { name, brandColour, logo } }: { readonly of: Merchant }) {
  const colour = brandColour ?? OURS;
  const ink = inkOn(colour);
  return (
    <svg class="look" viewBox="0 0 320 150" role="img" aria-label={`How a page of ${name} begins`}>
      <rect width="320" height="150" rx="12" fill={colour} />
      {logo ? (
        <image href={logo} x="20" y="16" width="160" height="40" preserveAspectRatio="xMinYMid meet" />
      ) : null}
      <text x="20" y="84" fill={ink} font-size="15" font-weight="650">
        {shortened(name)}
      </text>
      <text x="20" y="124" fill={ink} font-size="30" font-weight="700">
        $10.00
      </text>
    </svg>
  );
}

const ROOM = 34;
const shortened = (name: string) => (name.length > ROOM ? `${name.slice(0, ROOM - 1)}…` : name);
