/**
 * How the readiness of objects is decided by expressions: `healthCheckExprs` of Flux's HelmRelease v2, with its names and its
 * validation, for a HelmOp, a Bundle and each target.
 */
import * as z from "zod";
import { described, fields, text } from "./field.ts";

/** The limit of an expression, see `shared/src/text/cel`. */
export const maxExpressionLength = 4_096;

const maxHealthChecks = 64;

const options = { maxLength: maxExpressionLength };

const healthCheckSchema = fields(
  {
    apiVersion: described(
      z.string(),
      "The apiVersion of the objects, such as `example.com/v1`. The version is ignored.",
    ),
    kind: text("The kind of the objects.", {
      absent: "all kinds of the group for which no other entry names the kind",
    }),
    inProgress: text(
      "A CEL expression that is true while the object is being reconciled. It is evaluated first.",
      options,
    ),
    failed: text("A CEL expression that is true when the object has failed.", options),
    current: described(
      z.string().max(maxExpressionLength),
      "A CEL expression that is true when the object is ready. Variables of all three are the fields of the object: `status.phase == 'Running'`.",
    ),
  },
  "HealthCheck",
);

/** The field, for the options of a deployment. */
export const healthCheckFields = {
  healthCheckExprs: described(
    z.array(healthCheckSchema).max(maxHealthChecks).nullish(),
    "Expressions that decide whether objects are ready, in place of the rules for their kind. A change of them does not run Helm. The list of a target replaces the object's.",
  ),
} as const;
