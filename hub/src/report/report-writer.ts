/**
 * Turns what agents report into the status of BundleDeployments. Runs on the replica that holds the agent, and tells it
 * once a report is stored, so that the agent may forget it.
 */

import { isDeepStrictEqual } from "node:util";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { bundleDeployments } from "@flotilla/shared/api/resources.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest, WriteOptions } from "@flotilla/shared/kube/client/rest.ts";
import { KubeStatusError } from "@flotilla/shared/kube/client/status-error.ts";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
} from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { release } from "../deploy/tombstone.ts";
import type { ReportSink } from "../handout/report-sink.ts";
import {
  deploymentStatus,
  isDeploymentNews,
  isOutdated,
  type PlacedReport,
} from "../status/deployment-status.ts";
import { createStatusWriter } from "../status/status-writer.ts";
import { type Currency, longestGapMs } from "./currency.ts";

export interface ReportWriter extends ReportSink {
  /** Writes what still waits. */
  flush(): Promise<void>;
}

export interface ReportWriterDeps {
  readonly rest: KubeRest;
  readonly deployments: Store<BundleDeployment>;
  readonly currency: Pick<Currency, "doubt" | "fresh" | "isOvertaken">;
  readonly clock: Clock;
  readonly log: Log;
}

/** A write that has not been sent by the time at which a process counts as frozen must not be sent when it wakes. */
const writeTimeoutMs = longestGapMs;

interface Pending {
  readonly report: PlacedReport;
  readonly cluster: ObjectKey;
  readonly waiting: (() => void)[];
}

export function createReportWriter(deps: ReportWriterDeps): ReportWriter {
  /** The latest report of each deployment that is not stored yet. */
  const pending = new Map<ObjectKey, Pending>();
  const { currency } = deps;
  const writer = createStatusWriter({
    ...deps,
    rest: { ...deps.rest, replace },
    resource: bundleDeployments,
    store: deps.deployments,
    isUrgent: isDeploymentNews,
    compute: (deployment) => {
      const latest = pending.get(keyOf(deployment));
      if (latest === undefined || latest.report.state.uid !== deployment.metadata.uid)
        return undefined;
      if (isOutdated(latest.report, deployment.status)) return undefined;
      if (currency.isOvertaken(latest.cluster, latest.report.epoch)) return undefined;
      const next = deploymentStatus(
        deployment,
        latest.report,
        new Date(deps.clock.now()).toISOString(),
      );
      // Where a report stands among others is stored with what it says, not for its own sake.
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
    const known = currency.fresh();
    if (known !== true) {
      await known;
      // As after any other write that it was not decided on.
      const message = `write ${resource.kind} ${keyOf(object)}: the cache may have been behind, so that is decided again`;
      throw new KubeStatusError(message, { status: 409, reason: "Conflict" });
    }
    try {
      return await deps.rest.replace(resource, object, { ...options, timeoutMs: writeTimeoutMs });
    } catch (thrown) {
      if (!(thrown instanceof KubeStatusError)) currency.doubt();
      throw thrown;
    }
  }

  return {
    // What is outdated, or about a deployment that is not there, is done with at once.
    report({ deploymentsNamespace, ...cluster }, place, state) {
      const report = { ...place, state };
      const key = keyOf({ namespace: deploymentsNamespace, name: state.name });
      return new Promise((resolve) => {
        const earlier = pending.get(key);
        if (earlier !== undefined && isOutdated(report, { agent: earlier.report })) resolve();
        else {
          // What an earlier report waited for is covered by this one.
          const waiting = [...(earlier?.waiting ?? []), resolve];
          pending.set(key, { report, cluster: keyOf(cluster), waiting });
          writer.mark(key);
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
    flush: writer.flush,
  };
}
