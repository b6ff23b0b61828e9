/** Takes one agent's reports to where they are kept: only those of its own deployments, and only so many at a time. */
import type { DeploymentKey, DeploymentState } from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { HandoutMetrics } from "./metrics.ts";
import type { ClusterRef, ReportPlace, ReportSink } from "./report-sink.ts";

export interface ReportIntakeDeps {
  readonly cluster: ClusterRef;
  readonly wanted: (name: string) => BundleDeployment | undefined;
  readonly sink: ReportSink;
  readonly metrics: HandoutMetrics;
  readonly log: Log;
  readonly acknowledge: (name: string, sequence: number) => void;
  readonly released: (name: string, uid: string) => void;
  /** As many reports as may be are on their way to be kept: read no more. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
  /** A report could not be kept. */
  readonly onFailed: (thrown: unknown) => void;
}

export interface ReportIntake {
  state(place: ReportPlace, state: DeploymentState): void;
  withdrawn(deployment: DeploymentKey): void;
}

/** Reports of one agent on their way at the same time: as many as fifty HelmOps change at once, with room. */
const mostAtATime = 256;
/** Names whose refusal is remembered, so that it is logged once. */
const rememberedNames = 100;

export function createReportIntake(deps: ReportIntakeDeps): ReportIntake {
  const { cluster, wanted, sink, metrics, log } = deps;
  const logged = new Set<string>();
  let onTheWay = 0;

  function keep(work: Promise<void>, then: () => void): void {
    onTheWay += 1;
    if (onTheWay === mostAtATime) deps.onFull();
    work
      .then(then, (thrown: unknown) => {
        log.warn({ err: messageOf(thrown) }, "report could not be kept, so the stream is ended");
        deps.onFailed(thrown);
      })
      .finally(() => {
        onTheWay -= 1;
        if (onTheWay === mostAtATime - 1) deps.onRoom();
      });
  }

  function refuse({ name, uid }: DeploymentKey, reason: string): void {
    metrics.refused.inc({ reason });
    if (logged.has(name) || logged.size >= rememberedNames) return;
    logged.add(name);
    log.warn({ deployment: name, uid, reason }, "report was refused");
  }

  return {
    state(place, state) {
      if (wanted(state.name)?.metadata.uid !== state.uid) {
        refuse(state, "not a deployment of this cluster");
        // Acknowledged all the same: saying it again would not make it true.
        deps.acknowledge(state.name, place.sequence);
        return;
      }
      metrics.reports.inc();
      keep(sink.report(cluster, place, state), () => deps.acknowledge(state.name, place.sequence));
    },
    withdrawn(deployment) {
      const current = wanted(deployment.name);
      deps.released(deployment.name, deployment.uid);
      if (current?.metadata.uid !== deployment.uid) return;
      if (current.metadata.deletionTimestamp === undefined) {
        refuse(deployment, "not being deleted");
        return;
      }
      keep(sink.withdrawn(cluster, deployment), () => undefined);
    },
  };
}
