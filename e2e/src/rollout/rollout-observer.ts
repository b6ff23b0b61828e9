/** Records every state of the clusters of one app and of its rollouts, as the API server delivers them: it knows nothing of the hub. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type BundleDeployment, bundleDeployments, clusters } from "@flotilla/shared/api";
import { clusterLabel } from "@flotilla/shared/api/names";
import { type BundleRollout, bundleRollouts } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { parseTime } from "@flotilla/shared/time";

/** A state of the BundleDeployment of one cluster. */
export interface ClusterState {
  /** When it was delivered, as of `performance.now`. */
  readonly atMs: number;
  readonly resourceVersion: number;
  readonly cluster: string;
  /** The content that the cluster is to have; "" while there is none. */
  readonly desired: string;
  /** Its agent has applied that, and it is ready. */
  readonly isReady: boolean;
  /** By the clock of the hub, ms since 1970; undefined: no staged rollout promoted it. */
  readonly promotedAtMs: number | undefined;
  /** Since when it is not ready, by the clock of the hub; undefined: it is, or that is not known. */
  readonly unreadySinceMs: number | undefined;
}

/** The labels of a cluster from a resource version on. */
export interface LabelState {
  readonly atMs: number;
  readonly resourceVersion: number;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Observer {
  /** In the order of their resource versions. */
  readonly states: readonly ClusterState[];
  /** The last state of each cluster. */
  readonly latest: ReadonlyMap<string, ClusterState>;
  /** Each change of the labels of each cluster, and what they were in the beginning. */
  readonly labels: readonly LabelState[];
  /** Each state of each BundleRollout. */
  readonly rollouts: readonly BundleRollout[];
  /** Resolves as soon as this holds, which is asked after each state. */
  until(isReached: () => boolean): Promise<void>;
  close(): Promise<void>;
}

const watchSeconds = 3_600;
const retryMs = 100;

/** Resolves when what there is has been listed. `name`: of the BundleDeployments. */
export async function observeRollouts(rest: KubeRest, name: string): Promise<Observer> {
  const states: ClusterState[] = [];
  const latest = new Map<string, ClusterState>();
  const labels: LabelState[] = [];
  const labelled = new Map<string, LabelState>();
  const rollouts: BundleRollout[] = [];
  const waiting = new Set<{ isReached(): boolean; resolve(): void }>();
  const stop = new AbortController();

  function evaluate(): void {
    for (const each of waiting)
      if (each.isReached()) {
        waiting.delete(each);
        each.resolve();
      }
  }

  const watching = [
    await follow(rest, bundleDeployments, stop.signal, (deployment) => {
      if (deployment.metadata.name !== name) return;
      const state = stateOf(deployment);
      states.push(state);
      latest.set(state.cluster, state);
      evaluate();
    }),
    await follow(rest, clusters, stop.signal, ({ metadata }) => {
      const known = labelled.get(metadata.name);
      if (isDeepStrictEqual(known?.labels, metadata.labels ?? {})) return;
      const state = {
        atMs: performance.now(),
        resourceVersion: Number(metadata.resourceVersion),
        cluster: metadata.name,
        labels: metadata.labels ?? {},
      };
      labels.push(state);
      labelled.set(metadata.name, state);
      evaluate();
    }),
    await follow(rest, bundleRollouts, stop.signal, (rollout) => {
      rollouts.push(rollout);
      evaluate();
    }),
  ];
  return {
    states,
    latest,
    labels,
    rollouts,
    until: (isReached) =>
      new Promise((resolve) => {
        if (isReached()) resolve();
        else waiting.add({ isReached, resolve });
      }),
    async close() {
      stop.abort();
      await Promise.all(watching.map(({ ended }) => ended));
    },
  };
}

/**
 * Lists once, and never again: a state that was missed would be a limit that nobody checked. A watch that ends, as that of a slow
 * reader does, goes on where it was; where the API server cannot do that, it rejects.
 */
async function follow<T extends KubeObject>(
  rest: KubeRest,
  resource: Resource<T>,
  signal: AbortSignal,
  observe: (object: T) => void,
): Promise<{ readonly ended: Promise<void> }> {
  const { items, resourceVersion: listed } = await rest.list(resource);
  for (const item of items) observe(item);
  let resourceVersion = listed;
  async function watchOnce(): Promise<void> {
    const options = { resourceVersion, signal, timeoutSeconds: watchSeconds };
    for await (const event of rest.watch(resource, options)) {
      if (event.type === "BOOKMARK") resourceVersion = event.resourceVersion;
      else {
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
        if (event.type !== "DELETED") observe(event.object);
      }
    }
  }
  async function watch(): Promise<void> {
    while (!signal.aborted)
      try {
        await watchOnce();
      } catch (thrown) {
        // The connection was cut.
        if (thrown instanceof KubeStatusError) throw thrown;
        await sleep(retryMs);
      }
  }
  return { ended: watch() };
}

function stateOf({ metadata, spec, status }: BundleDeployment): ClusterState {
  const { deploymentID: desired, promotion } = spec;
  const ready = findCondition(status?.conditions, "Ready");
  return {
    atMs: performance.now(),
    resourceVersion: Number(metadata.resourceVersion),
    cluster: metadata.labels?.[clusterLabel] ?? "",
    desired,
    isReady: desired !== "" && status?.appliedDeploymentID === desired && status.ready === true,
    promotedAtMs: parseTime(promotion?.at),
    unreadySinceMs: ready?.status === "False" ? parseTime(ready.lastTransitionTime) : undefined,
  };
}
