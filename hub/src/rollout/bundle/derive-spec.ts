/** The spec of a Bundle as it is deployed: with its charts resolved, under the Policies that it obeys. Pure. */
import type { Bundle, ChartPin } from "@flotilla/shared/api";
import { resolvedSpec } from "../../frontends/index.ts";

export interface SpecSource {
  readonly bundle: Bundle;
  /** Absent: those that its spec has. */
  readonly pins?: readonly ChartPin[];
  readonly caBundle?: string | undefined;
  /** Whether a Policy forbids to create namespaces. */
  readonly noNamespaces: boolean;
}

export function deriveSpec({ bundle, pins, caBundle, noNamespaces }: SpecSource): Bundle["spec"] {
  const spec = pins === undefined ? bundle.spec : resolvedSpec(bundle, { pins, caBundle });
  if (!noNamespaces) return spec;
  return {
    ...spec,
    createNamespace: false,
    targets: (spec.targets ?? []).map((target) => ({ ...target, createNamespace: false })),
  };
}
