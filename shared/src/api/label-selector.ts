/** Kubernetes' label selector, as a schema. */
import { z } from "zod";
import { described, fields, list, type Typed, texts } from "./field.ts";

const requirement = fields({
  key: described(z.string(), "The label's name."),
  operator: described(
    z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
    "How the label is compared: `In` and `NotIn` with `values`, `Exists` and `DoesNotExist` with nothing.",
  ),
  values: list("The values that `In` and `NotIn` compare with."),
});

export const labelSelectorSchema = fields(
  {
    matchLabels: texts("Labels that must be there with exactly these values."),
    matchExpressions: described(
      z.array(requirement).nullish(),
      "Conditions on labels, all of which must hold.",
    ),
  },
  "LabelSelector",
);

export type LabelSelector = Typed<typeof labelSelectorSchema>;

/** An optional selector. An empty one selects everything, an absent one nothing. */
export function selector(description: string) {
  return described(labelSelectorSchema.nullish(), description, {
    "x-kubernetes-map-type": "atomic",
  });
}
