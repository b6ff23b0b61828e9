/**
 * Writes agents' reports into the status of their BundleDeployments, on the replica that an agent is connected to. A report is
 * acknowledged once it is stored, so that the agent may drop it.
 */

import { isDeepStrictEqual } from "node:util";
import { type BundleDeployment, bundleDeployments, type Cluster } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import { type KubeRest, KubeStatusError, type WriteOptions } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
} from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { createPublisher } from "../../base/index.ts";
import {
  deploymentStatus,
  isOutdated,
  isUrgentDeployment,
  release,
  type SequencedReport,
} from "../../rollout/index.ts";
import type { ReportSink } from "./report-intake.ts";
import { longestGapMs, StalenessCheck } from "./staleness-check.ts";

export interface ReportWriter extends ReportSink {
  /** Detects gaps after which the cache may be stale, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Writes what is still pending. */
  flush(): Promise<void>;
}

export interface ReportWriterDeps {
  readonly rest: KubeRest;
  readonly deployments: Store<BundleDeployment>;
  readonly clusters: Store<Cluster>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A write that is not sent before the process counts as frozen must not be sent when it wakes. */
const writeTimeoutMs = longestGapMs;

interface Pending {
  readonly report: SequencedReport;
  readonly cluster: ObjectKey;
  readonly waiting: (() => void)[];
}

export function createReportWriter(deps: ReportWriterDeps): ReportWriter {
  /** By deployment the latest report that is not stored yet. */
  const pending = new Map<ObjectKey, Pending>();
  const staleness = new StalenessCheck(deps);
  const writer = createPublisher({
    ...deps,
    rest: { ...deps.rest, replace },
    resource: bundleDeployments,
    store: deps.deployments,
    isUrgent: isUrgentDeployment,
    rollUp: (deployment) => {
      const latest = pending.get(keyOf(deployment));
      if (latest === undefined || latest.report.state.uid !== deployment.metadata.uid)
        return undefined;
      if (isOutdated(latest.report, deployment.status)) return undefined;
      if (staleness.isSuperseded(latest.cluster, latest.report.epoch)) return undefined;
      const next = deploymentStatus(deployment, latest.report, formatTimeMs(deps.clock.now()));
      // A new position alone is not written.
      return isDeepStrictEqual(
        { ...next, agent: undefined },
        { ...deployment.status, agent: undefined },
      )
        ? undefined
        : next;
    },
    onSettled: (key) => {
      const stored = pending.get(key);
      pending.delete(key);
      for (const resolve of stored?.waiting ?? []) resolve();
    },
  });

  async function replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const confirmation = staleness.confirmed();
    if (confirmation !== true) {
      await confirmation;
      // Handled as any other conflict.
      const message = `write ${resource.kind} ${keyOf(object)}: the cache may have been stale; deciding again`;
      throw new KubeStatusError(message, { status: 409, reason: "Conflict" });
    }
    try {
      return await deps.rest.replace(resource, object, { ...options, timeoutMs: writeTimeoutMs });
    } catch (thrown) {
      if (!(thrown instanceof KubeStatusError)) staleness.invalidate();
      throw thrown;
    }
  }

  return {
    // Resolves at once for a report that is outdated or whose deployment does not exist.
    report({ deploymentsNamespace, ...cluster }, position, state) {
      const report = { ...position, state };
      const key = keyOf({ namespace: deploymentsNamespace, name: state.name });
      return new Promise((resolve) => {
        const earlier = pending.get(key);
        if (earlier !== undefined && isOutdated(report, { agent: earlier.report })) resolve();
        else {
          // Storing this report also settles the earlier ones.
          const waiting = [...(earlier?.waiting ?? []), resolve];
          pending.set(key, { report, cluster: keyOf(cluster), waiting });
          writer.refresh(key);
        }
      });
    },
    async withdrawn({ deploymentsNamespace: namespace }, { name, uid }) {
      const deployment = deps.deployments.get(keyOf({ namespace, name }));
      if (
        deployment === undefined ||
        deployment.metadata.uid !== uid ||
        deployment.metadata.deletionTimestamp === undefined
      )
        return;
      await release(deps.rest, deployment);
    },
    run: (signal) => staleness.run(signal),
    flush: writer.flush,
  };
}
