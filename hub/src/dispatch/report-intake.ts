/** Takes one agent's reports to where they are kept: only those of its own deployments, and only so many at a time. */
import type { DeploymentKey, DeploymentState } from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { RejectionReason, Rejections } from "../rpc/rejections.ts";
import type { DispatchMetrics } from "./metrics.ts";
import type { ClusterRef, ReportPosition, ReportSink } from "./report-sink.ts";

export interface ReportIntakeDeps {
  readonly cluster: ClusterRef;
  readonly wanted: (name: string) => BundleDeployment | undefined;
  /** Whether the agent has a deployment of that name, by what it said itself. */
  readonly isHeld: (name: string) => boolean;
  readonly sink: ReportSink;
  readonly metrics: DispatchMetrics;
  readonly refusals: Rejections;
  readonly log: Log;
  /** The latest of a name takes the place of what was not said yet. `onSaid`: called when it is its turn. */
  readonly acknowledge: (name: string, sequence: number, onSaid: () => void) => void;
  readonly released: (name: string, uid: string) => void;
  /** As many reports as may be are on their way to be kept: read no more. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
  /** As many answers as may be wait for the agent to read them: read no more. */
  readonly onUnread: () => void;
  readonly onRead: () => void;
  /** A report could not be kept. */
  readonly onFailed: (thrown: unknown) => void;
}

export interface ReportIntake {
  state(place: ReportPosition, state: DeploymentState): void;
  withdrawn(deployment: DeploymentKey): void;
  /** Whether a report was refused on a deployment that is the cluster's after all: the cache was behind. */
  hasMissed(name: string): boolean;
}

/** Reports of one agent on their way at the same time, or refused: as many as fifty HelmOps change at once, with room. */
const mostAtATime = 256;

export function createReportIntake(deps: ReportIntakeDeps): ReportIntake {
  const { cluster, wanted, sink, metrics, refusals, log } = deps;
  let onTheWay = 0;
  /** Of what is refused, names that the agent was not told of yet. */
  const untold = new Set<string>();
  /** By name the UIDs of what the agent has and reports on, and is not known here. No more than it said that it has. */
  const unknown = new Map<string, string>();

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

  function acknowledge(name: string, sequence: number): void {
    deps.acknowledge(name, sequence, () => {
      if (untold.delete(name) && untold.size === mostAtATime - 1) deps.onRead();
    });
  }

  function refuse({ name, uid }: DeploymentKey, reason: RejectionReason): void {
    const who = `${cluster.namespace}/${cluster.name}`;
    const fields = { cluster: who, deployment: name, uid };
    refusals.rejected(who, { reason, fields, message: "report was refused" });
  }

  return {
    state(place, state) {
      if (wanted(state.name)?.metadata.uid !== state.uid) {
        refuse(state, "not a deployment of this cluster");
        if (deps.isHeld(state.name)) {
          // Left unacknowledged: should this replica only be behind, the agent is to say it once more.
          unknown.set(state.name, state.uid);
          return;
        }
        // Whoever makes up names and does not read would have the hub remember all of them.
        untold.add(state.name);
        if (untold.size === mostAtATime) deps.onUnread();
        // Acknowledged all the same: saying it again would not make it true.
        acknowledge(state.name, place.sequence);
        return;
      }
      metrics.reports.inc();
      keep(sink.report(cluster, place, state), () => acknowledge(state.name, place.sequence));
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
    hasMissed: (name) => unknown.has(name) && wanted(name)?.metadata.uid === unknown.get(name),
  };
}
