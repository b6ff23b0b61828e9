/** The kinds that Receivers trigger: ours, and Flux's that the hub reconciles. */
import { appDefinition, appKinds } from "@flotilla/shared/api/apps";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmRepositories,
  ociRepositories,
} from "@flotilla/shared/flux";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";

export interface TargetKind {
  readonly resource: Resource<KubeObject>;
  /** Flux knows the version of its sources alone. */
  readonly needsApiVersion: boolean;
}

const apps = appKinds.map((kind): TargetKind => {
  const { resource, receiversNeedApiVersion: needsApiVersion } = appDefinition(kind);
  return { resource, needsApiVersion };
});

const sources = [helmCharts, helmRepositories, ociRepositories, gitRepositories, buckets].map(
  (resource: Resource<KubeObject>): TargetKind => ({ resource, needsApiVersion: false }),
);

/** By kind. */
export const targetKinds: ReadonlyMap<string, TargetKind> = new Map(
  [...apps, ...sources].map((target) => [target.resource.kind, target]),
);

export function apiVersionOf({ group, version }: Resource<KubeObject>): string {
  return `${group}/${version}`;
}
