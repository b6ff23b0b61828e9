/** What the journeys wait for, each by watching the object itself. */

import { waitForObject } from "@flotilla/cli/fleet";
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, ObjectRef, Resource } from "@flotilla/shared/kube/objects";

const patienceMs = 60_000;

/** Resolves with the HelmOp once `isWanted` holds for it. */
export async function helmOpThat(
  hub: KubeRest,
  name: string,
  what: string,
  isWanted: (helmOp: HelmOp) => boolean,
): Promise<HelmOp> {
  const found = await waitForObject(
    helmOps,
    { namespace: workspaceNamespace, name },
    (helmOp) => helmOp !== undefined && isWanted(helmOp),
    {
      rest: hub,
      timeoutMs: patienceMs,
      onTimeout: (last) => `HelmOp ${name} was not ${what}: ${JSON.stringify(last?.status)}`,
    },
  );
  if (found === undefined) throw new Error(`HelmOp ${name} is not there`);
  return found;
}

/** Ready, of its current generation, in this many clusters, with this version. */
export function isReady(version: string, clusters: number): (helmOp: HelmOp) => boolean {
  return (helmOp) => {
    const ready = findCondition(helmOp.status?.conditions, "Ready");
    return (
      ready?.status === "True" &&
      ready.observedGeneration === helmOp.metadata.generation &&
      helmOp.status?.version === version &&
      helmOp.status.display?.readyBundleDeployments === `${clusters}/${clusters}`
    );
  };
}

export function objectThat<T extends KubeObject>(
  rest: KubeRest,
  resource: Resource<T>,
  ref: ObjectRef,
  what: string,
  isWanted: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  return waitForObject(resource, ref, isWanted, {
    rest,
    timeoutMs: patienceMs,
    onTimeout: (last) =>
      `${resource.kind} ${ref.namespace ?? ""}/${ref.name} was not ${what}: ${JSON.stringify(last)}`,
  });
}
