import type { ClusterFacts } from "@flotilla/shared/supply/cluster-facts.ts";
import type { Values } from "@flotilla/shared/values/merge-values.ts";
import type { RunHelm } from "../helm/run-helm.ts";

export interface ValuesTemplates {
  readonly values?: Values | undefined;
  readonly templateValues?: Readonly<Record<string, string>> | undefined;
  readonly valuesAreTemplates: boolean;
}

export type RenderValues = (
  content: ValuesTemplates,
  facts: ClusterFacts,
  options: { readonly signal: AbortSignal },
) => Promise<Values | undefined>;

export function hasTemplates({ templateValues }: ValuesTemplates): boolean {
  return templateValues !== undefined;
}

export function createRenderValues(deps: {
  readonly runHelm: RunHelm;
  readonly dir: string;
}): RenderValues {
  return () => Promise.reject(new Error(`no templates in ${deps.dir} ${String(deps.runHelm)}`));
}
