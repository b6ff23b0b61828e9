/** Conditions as Flux has them, which Kubernetes' own API defines: each has all of its fields. */
import * as z from "zod";
import { described, fields, type Typed } from "../fleet/index.ts";
import { string, timestamp } from "./field.ts";

/** The limits of a condition, beyond which the API server rejects the status. */
export const maxConditionMessageLength = 32_768;

const conditionSchema = fields(
  {
    type: described(
      string({
        max: 316,
        pattern:
          /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      }),
      "The type, such as `Ready`.",
    ),
    status: described(z.enum(["True", "False", "Unknown"]), "Whether the condition is true."),
    reason: described(
      string({ min: 1, max: 1024, pattern: /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/ }),
      "The reason, one word for programs.",
    ),
    message: described(
      string({ max: maxConditionMessageLength }),
      "For people: what failed, on what, why, and what happens next.",
    ),
    lastTransitionTime: timestamp("When the condition changed last, RFC 3339."),
    observedGeneration: described(
      z.int().min(0).optional(),
      "The `metadata.generation` that the condition is for.",
    ),
  },
  "FluxCondition",
);

export type FluxCondition = Typed<typeof conditionSchema>;

/** A plain list, as in Flux: server-side apply replaces it as a whole. */
export const conditionsSchema = described(
  z.array(conditionSchema).optional(),
  "The conditions of the object, one of each type.",
);
