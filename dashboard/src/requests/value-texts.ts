/** Values of a release as the agent writes them. Pure. */

export type ValueOrigin =
  | { readonly kind: "chart" | "spec" | "templateValues" }
  | { readonly kind: "target"; readonly name: string }
  | {
      readonly kind: "ConfigMap" | "Secret";
      readonly namespace?: string;
      readonly name: string;
      readonly key: string;
    };

export interface ReleaseValue {
  /** As `helm --set` has it. */
  readonly path: string;
  /** Absent: masked. */
  readonly value?: unknown;
  readonly origin: ValueOrigin;
}

export function originText(origin: ValueOrigin): string {
  switch (origin.kind) {
    case "chart":
      return "the chart's defaults";
    case "spec":
      return "values in the spec";
    case "templateValues":
      return "templateValues in the spec";
    case "target":
      return origin.name;
    default: {
      const { kind, namespace, name, key } = origin;
      return namespace === undefined
        ? `${kind} ${name} on the hub, key ${key}`
        : `${kind} ${namespace}/${name}, key ${key}`;
    }
  }
}

export function valueText({ value, origin }: ReleaseValue): string {
  return origin.kind === "Secret" ? "masked" : JSON.stringify(value);
}

export interface ValueFilter {
  readonly text: string;
  readonly isWithChart: boolean;
}

/** A search also finds defaults of the chart. */
export function isShown(value: ReleaseValue, { text, isWithChart }: ValueFilter): boolean {
  if (text === "") return isWithChart || value.origin.kind !== "chart";
  const words = `${value.path} ${valueText(value)} ${originText(value.origin)}`.toLowerCase();
  return words.includes(text.toLowerCase());
}
