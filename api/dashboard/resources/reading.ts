import { ResourceInput } from "../../resource/schema.ts";
import { type Fields, parseFields } from "../form.ts";
import { asFlag, asJson, asLines, asNumber, type Reading } from "../readings.ts";

/** Rails are chosen as `chain/asset`. */
const asRails: Reading = (values) =>
  values.map((value) => {
    const [chain = "", asset = ""] = value.split("/");
    return { chain, asset };
  });

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
