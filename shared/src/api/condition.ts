/** One observation about an object: `Ready`, `Accepted`, `Deployed` and the like. */
import { z } from "zod";
import { described, fields, integer, plainText, type Typed } from "./field.ts";

export const conditionSchema = fields(
  {
    type: described(
      z.string(),
      "What is observed, such as `Ready`. An object has one condition of each type.",
    ),
    status: described(z.enum(["True", "False", "Unknown"]), "Whether it holds."),
    reason: plainText("One word for programs that says why."),
    message: plainText("For people: what was tried, what came of it, and what happens next."),
    observedGeneration: integer(
      "The `metadata.generation` that was looked at. When it is lower than the object's own, the condition speaks of an earlier spec.",
    ),
    lastTransitionTime: plainText("When `status` changed last, RFC 3339."),
    lastUpdateTime: plainText("When anything of the condition changed last, RFC 3339."),
  },
  "Condition",
);

export type Condition = Typed<typeof conditionSchema>;

/** The conditions of a status: a map by type, kept as a list. */
export const conditionsSchema = described(
  z.array(conditionSchema).optional(),
  "What is known about the object, one entry for each type.",
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
);
