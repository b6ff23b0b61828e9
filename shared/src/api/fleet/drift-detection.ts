/**
 * Drift: changes that others make to the objects of a release. `driftDetection` is as in Flux's HelmRelease v2, `correctDrift`
 * and `diff` are Fleet's, for a HelmOp, a Bundle and each target.
 */
import * as z from "zod";
import { described, fields, flag, list, type Typed, text } from "./field.ts";
import { objectTargetSchema } from "./object-target.ts";

const maxRules = 64;

const ignoreRuleSchema = fields({
  paths: described(
    z
      .array(
        z
          .string()
          .max(512)
          .regex(/^(\/([^~]|~[01])*)?$/),
      )
      .max(maxRules),
    'Fields that are neither compared nor corrected, as JSON pointers such as `/spec/replicas`. `""` is the whole object.',
  ),
  target: described(
    objectTargetSchema.nullish(),
    "The objects: those that match all fields. Regular expressions match the whole text.",
    { "x-default-text": "all objects of the release" },
  ),
});

const patchOperation = fields({
  op: text(
    "`remove`, `add` or `replace`: the field is neither compared nor corrected; `ignore`: the whole object.",
  ),
  path: text("The field, as a JSON pointer."),
  value: text("No effect: what is not compared needs no value."),
});

const comparePatch = fields({
  apiVersion: text("The objects' apiVersion.", { absent: "any" }),
  kind: text("The objects' kind.", { absent: "any" }),
  namespace: text("The objects' namespace.", { absent: "any" }),
  name: text("The object's name, or a regular expression for a part of it with `op: ignore`.", {
    absent: "any",
  }),
  operations: described(z.array(patchOperation).nullish(), "What is not compared."),
  jsonPointers: list("Fields that are neither compared nor corrected, as JSON pointers."),
});

const correctDriftSchema = fields({
  enabled: flag("Revert changes that others make to deployed objects."),
  force: flag("Delete and recreate objects that the API server does not let be changed back."),
  keepFailHistory: flag(
    "No effect: a correction is not a revision of the release, so a failed one leaves no record. `driftHistory` of the BundleDeployment has it.",
  ),
});

/** The fields, for the options of a deployment. */
export const driftFields = {
  driftDetection: described(
    fields({
      mode: described(
        z.enum(["disabled", "warn", "enabled"]).nullish(),
        "`warn`: drift is reported in the condition Drifted and leaves Ready as it is; `enabled`: it is corrected, too; `disabled`: neither.",
        {
          "x-default-text":
            "`enabled` with `correctDrift.enabled`; else it is reported, and the deployment is Modified, as in Fleet",
        },
      ),
      ignore: described(
        z.array(ignoreRuleSchema).max(maxRules).nullish(),
        "What does not count as drift, besides `diff.comparePatches`.",
      ),
    }).nullish(),
    "Detection of drift, which are changes that others make to deployed objects. A change of it does not run Helm.",
  ),
  correctDrift: described(
    correctDriftSchema.nullish(),
    "Correction of drift, where `driftDetection.mode` is not set.",
  ),
  diff: described(
    fields({
      comparePatches: described(
        z.array(comparePatch).nullish(),
        "What to exclude from the comparison, by object.",
      ),
    }).nullish(),
    "Differences that do not count as drift.",
  ),
} as const;

const driftOptionsSchema = fields(driftFields);

export type DriftOptions = Typed<typeof driftOptionsSchema>;
