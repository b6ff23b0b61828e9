/** Label selectors of Kubernetes: their schema, and how they match. Pure. */
import * as z from "zod";
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

type Labels = Readonly<Record<string, string>>;
type LabelRequirement = NonNullable<LabelSelector["matchExpressions"]>[number];

/** Objects of a store are replaced, never changed; the first label mostly decides, and there may be tens of thousands. */
const entriesOf = new WeakMap<Labels, readonly (readonly [name: string, value: string])[]>();

function labelEntries(labels: Labels): readonly (readonly [name: string, value: string])[] {
  const known = entriesOf.get(labels);
  if (known !== undefined) return known;
  const entries = Object.entries(labels);
  entriesOf.set(labels, entries);
  return entries;
}

/** Whether a selector matches labels. An empty selector matches everything, an unknown operator nothing. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  if (selector.matchLabels)
    for (const [name, value] of labelEntries(selector.matchLabels))
      if (labels[name] !== value) return false;
  return (selector.matchExpressions ?? []).every((requirement) => meets(requirement, labels));
}

function meets(requirement: LabelRequirement, labels: Labels): boolean {
  const value = labels[requirement.key];
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      // Fleet's CRDs accept any text here; the hub's validation reports it.
      return false;
  }
}
