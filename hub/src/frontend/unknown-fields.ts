/** What is said of fields that a HelmOp or a Bundle has and that nobody reads. Pure. */
import { type Bundle, bundleSchemas } from "@flotilla/shared/api/bundle.ts";
import { type HelmOp, helmOpSchemas } from "@flotilla/shared/api/helm-op.ts";
import { type UnknownField, unknownFields } from "@flotilla/shared/api/unknown-fields.ts";

/** More would not be read. */
const mostShown = 5;

/** One sentence for each, with the field that was probably meant. */
export function unknownFieldRemarks({ spec }: HelmOp): readonly string[] {
  return remarksOn(unknownFields(helmOpSchemas.spec, spec, "spec"));
}

/** The same of a Bundle that a person wrote. */
export function unknownBundleFieldRemarks({ spec }: Bundle): readonly string[] {
  return remarksOn(unknownFields(bundleSchemas.spec, spec, "spec"));
}

function remarksOn(found: readonly UnknownField[]): readonly string[] {
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
