/** Conditions of a status, such as `Ready`, `Accepted` and `Deployed`. */
import * as z from "zod";
import { described, fields, integer, plainText } from "./field.ts";

export const conditionSchema = fields(
  {
    type: described(
      z.string(),
      "The type, such as `Ready`. An object has one condition of each type.",
    ),
    status: described(z.enum(["True", "False", "Unknown"]), "Whether the condition is true."),
    reason: plainText("The reason, one word for programs."),
    message: plainText("For people: what failed, on what, why, and what happens next."),
    observedGeneration: integer(
      "The `metadata.generation` that the condition is for. When it is lower than the object's, the condition is for an earlier spec.",
    ),
    lastTransitionTime: plainText("When `status` changed last, RFC 3339."),
    lastUpdateTime: plainText(
      "When any field of the condition changed last, RFC 3339. A BundleDeployment has none that is equal to lastTransitionTime.",
    ),
  },
  "Condition",
);

/** The conditions of a status: a map by type, kept as a list. */
export const conditionsSchema = described(
  z.array(conditionSchema).optional(),
  "The conditions of the object, one of each type.",
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
);
