import { ResourceInput } from "../../resource/schema.ts";
import { type Fields, parseFields } from "../form.ts";
import { asFlag, asJson, asLines, asNumber, asRails } from "../readings.ts";

/** The form of a registration. Fault: `validation_failed`. */
export function readResourceForm(fields: Fields): ResourceInput {
  return parseFields(
    ResourceInput,
    fields,
    {},
    {
      rails: asRails,
      maxTimeoutSeconds: asNumber,
      tags: asLines,
      listed: asFlag,
      probe: asFlag,
      "extensions.bazaar": asJson,
    },
  );
}
