/** The kinds that Receivers trigger: ours, and those of Flux that the hub reconciles. */
import { bundles, helmOps } from "@flotilla/shared/api";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmReleases,
  helmRepositories,
  ociRepositories,
} from "@flotilla/shared/flux";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";

export interface TargetKind {
  readonly resource: Resource<KubeObject>;
  /** Flux knows the version of its sources, and not that of HelmReleases. */
  readonly needsApiVersion: boolean;
}

const resources: readonly Resource<KubeObject>[] = [
  ...[helmOps, bundles, helmReleases, helmCharts, helmRepositories],
  ...[ociRepositories, gitRepositories, buckets],
];

/** By kind. */
export const targetKinds: ReadonlyMap<string, TargetKind> = new Map(
  resources.map((resource) => [
    resource.kind,
    { resource, needsApiVersion: resource.kind === helmReleases.kind },
  ]),
);

export function apiVersionOf({ group, version }: Resource<KubeObject>): string {
  return `${group}/${version}`;
}
