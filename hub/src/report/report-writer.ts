/**
 * Turns what agents report into the status of BundleDeployments. Runs on the replica that holds the agent, and tells it
 * once a report is stored, so that the agent may forget it.
 */

import { isDeepStrictEqual } from "node:util";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { bundleDeployments } from "@flotilla/shared/api/resources.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import type { Store } from "@flotilla/shared/kube/store.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { release } from "../deploy/tombstone.ts";
import type { ReportSink } from "../handout/report-sink.ts";
import {
  deploymentStatus,
  isDeploymentNews,
  isOutdated,
  type PlacedReport,
} from "../status/deployment-status.ts";
import { createStatusWriter } from "../status/status-writer.ts";

export interface ReportWriter extends ReportSink {
  /** Writes what still waits. */
  flush(): Promise<void>;
}

export interface ReportWriterDeps {
  readonly rest: KubeRest;
  readonly deployments: Store<BundleDeployment>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Pending {
  readonly report: PlacedReport;
  readonly waiting: (() => void)[];
}

export function createReportWriter(deps: ReportWriterDeps): ReportWriter {
  /** The latest report of each deployment that is not stored yet. */
  const pending = new Map<ObjectKey, Pending>();
  const writer = createStatusWriter({
    ...deps,
    resource: bundleDeployments,
    store: deps.deployments,
    isUrgent: isDeploymentNews,
    compute: (deployment) => {
      const latest = pending.get(keyOf(deployment));
      if (latest === undefined || latest.report.state.uid !== deployment.metadata.uid)
        return undefined;
      if (isOutdated(latest.report, deployment.status)) return undefined;
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

  return {
    // What is outdated, or about a deployment that is not there, is done with at once.
    report({ deploymentsNamespace: namespace }, place, state) {
      const report = { ...place, state };
      const key = keyOf({ namespace, name: state.name });
      return new Promise((resolve) => {
        const earlier = pending.get(key);
        if (earlier !== undefined && isOutdated(report, { agent: earlier.report })) resolve();
        else {
          // What an earlier report waited for is covered by this one.
          pending.set(key, { report, waiting: [...(earlier?.waiting ?? []), resolve] });
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
