/** What is said of fields that a HelmOp has and that nobody reads. Pure. */
import { type HelmOp, helmOpSchemas } from "@flotilla/shared/api/helm-op.ts";
import { unknownFields } from "@flotilla/shared/api/unknown-fields.ts";

/** More would not be read. */
const mostShown = 5;

/** One sentence for each, with the field that was probably meant. */
export function unknownFieldRemarks({ spec }: HelmOp): readonly string[] {
  const found = unknownFields(helmOpSchemas.spec, spec, "spec");
  const remarks = found
    .slice(0, mostShown)
    .map(({ path, meant }) =>
      meant === undefined
        ? `unknown field ${path} has no effect`
        : `unknown field ${path} has no effect, did you mean ${meant}?`,
    );
  const more = found.length - remarks.length;
  return more === 0 ? remarks : [...remarks, `${more} more unknown fields have no effect`];
}
