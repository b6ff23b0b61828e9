/**
 * The agents connected to this replica, and their record in the Clusters' status. A Cluster is written only when its agent connects
 * or goes offline, or its orphans change, and not for agents that return after a restart (epoch.ts); `status.agent` and
 * `status.orphans` have no other writer on this replica. Recording a connection assigns an epoch to its stream, by compare and swap
 * on the Cluster: of two streams of one cluster, on any replicas, one has the higher epoch, and its reports are the newer ones.
 */

import { isDeepStrictEqual } from "node:util";
import {
  type Cluster,
  type ClusterAgent,
  type ClusterStatus,
  maxOrphans,
} from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { done, type Reconcile, type Result, requeueAfter } from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { type Clock, formatTime } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { ClusterRef } from "../identity/cluster-identity.ts";
import { type AgentFields, lastSeen, writeAgentStatus } from "./agent-status.ts";
import { type EpochFloorOf, isBelowFloor, nextEpoch } from "./epoch.ts";
import { decidePresence, type PresenceDecision } from "./presence-rule.ts";

export interface PresenceDeps {
  readonly rest: KubeRest;
  readonly clusters: Store<Cluster>;
  /** The name of this replica, the same after a restart. */
  readonly replica: string;
  /** Whether this replica holds its Lease, by its own clock; default: always. */
  readonly isLeaseHeld?: () => boolean;
  /** When the previous process of the same name last renewed its Lease, RFC 3339. */
  readonly previousRenewTime?: string;
  /** Default: no replica has a floor. */
  readonly epochFloorOf?: EpochFloorOf;
  readonly clock: Clock;
  readonly graceMs?: number;
}

/** What an agent reports about itself when it connects. */
export interface AgentConnection {
  readonly version: string;
  readonly namespace: string;
  /** Absent: its version says what it can do. */
  readonly capabilities?: readonly string[] | undefined;
  /** The version of its Kubernetes; absent: it is not known. */
  readonly kubernetesVersion?: string | undefined;
  /** Deployments that it has and the hub does not have. */
  readonly orphans: readonly string[];
  /** The highest epoch of its stored reports. */
  readonly reportedEpoch: number;
  /** When its certificate expires, ms since 1970. */
  readonly certificateExpiresAt: number;
}

export interface Presence {
  /** A stream of the cluster was opened. Until it is `closed`, the cluster does not count as offline. */
  opened(cluster: ClusterRef): void;
  /**
   * Records the connection; returns the epoch of its stream: above every earlier one, also after a backup was restored that
   * reset the Cluster but not the reports. Throws CLUSTER_GONE, CLUSTER_CONFLICT or REPLICA_LEASE_EXPIRED.
   */
  connected(cluster: ClusterRef, connection: AgentConnection): Promise<number>;
  /** Written by `reconcile`. */
  orphansChanged(cluster: ClusterRef, epoch: number, orphans: readonly string[]): void;
  /** The stream of that epoch has ended; 0 if its connection was never recorded. Written by `reconcile`. */
  closed(cluster: ClusterRef, epoch: number): void;
  /**
   * From now on `closed` records nothing: the agents reconnect to another replica at once, and stay recorded as connected
   * until that one records them.
   */
  handOver(): void;
  /** Keyed by Cluster: records that an agent is offline, and its orphans. */
  readonly reconcile: Reconcile;
  /** Called with every Cluster to reconcile; returns the function that removes the listener. */
  onChange(listener: (key: ObjectKey) => void): () => void;
  /** Requests a reconcile of a Cluster that shows an agent as offline that is connected here. */
  clusterChanged(key: ObjectKey, cluster: Cluster | undefined): void;
}

interface EndedStream {
  readonly epoch: number;
  /** Monotonic, ms. */
  readonly at: number;
}

/** What this process observed of one cluster's agent. */
interface Entry {
  readonly openStreams: number;
  /** The epoch of the stream that is connected. */
  readonly epoch?: number;
  /** The last stream that was connected and has ended. */
  readonly ended?: EndedStream;
  /** The cache shows the agent as offline although it is connected here. */
  readonly isDisputed: boolean;
  /** To be written. */
  readonly orphans?: { readonly epoch: number; readonly names: readonly string[] };
}

const noEntry: Entry = { openStreams: 0, isDisputed: false };

/** Longer than the longest backoff of agents, and long enough to answer thousands of them. */
const defaultGraceMs = 60_000;
/** An agent reconnects within a second; one that stops regularly is Offline within 5 s. */
const settleMs = 2_500;

export function createPresence(deps: PresenceDeps): Presence {
  const { clock, isLeaseHeld = () => true } = deps;
  const startedAt = clock.monotonic();
  const entries = new Map<ObjectKey, Entry>();
  const listeners = new Set<(key: ObjectKey) => void>();
  let isHandedOver = false;
  /** When the last agent connected. */
  let returnedAt = startedAt;

  function entryOf(key: ObjectKey): Entry {
    return entries.get(key) ?? noEntry;
  }

  function update(key: ObjectKey, changes: Changes): void {
    const entry = withChanges(entryOf(key), changes);
    if (isDeepStrictEqual(entry, noEntry)) entries.delete(key);
    else entries.set(key, entry);
  }

  function notify(key: ObjectKey): void {
    for (const listener of listeners) listener(key);
  }

  async function connected(cluster: ClusterRef, connection: AgentConnection): Promise<number> {
    const key = clusterKey(cluster);
    if (!isLeaseHeld()) {
      const message = `replica ${deps.replica} of the hub could not renew its Lease, so it does not serve agents; connect to another replica`;
      throw new AppError(hubErrors.REPLICA_LEASE_EXPIRED, message);
    }
    returnedAt = clock.monotonic();
    const kept = keptEpoch(deps, cluster.uid, deps.clusters.get(key), connection, entryOf(key));
    if (kept !== undefined) {
      update(key, { epoch: kept });
      return kept;
    }
    const written = await writeAgentStatus(deps, key, (current) =>
      current.metadata.uid === cluster.uid
        ? connectedFields(deps, current, connection, entryOf(key).epoch ?? 0)
        : undefined,
    );
    const epoch = written?.status?.agent?.epoch;
    if (written?.metadata.uid !== cluster.uid || epoch === undefined) {
      const message = `Cluster ${key} was deleted or created again while its agent connected`;
      throw new AppError(hubErrors.CLUSTER_GONE, message);
    }
    update(key, { epoch });
    return epoch;
  }

  function closed(cluster: ClusterRef, epoch: number): void {
    const key = clusterKey(cluster);
    const entry = entryOf(key);
    update(key, { openStreams: Math.max(0, entry.openStreams - 1) });
    if (isHandedOver) return;
    if (epoch > 0 && entry.epoch === epoch)
      update(key, { epoch: undefined, ended: { epoch, at: clock.monotonic() } });
    notify(key);
  }

  const reconcile: Reconcile = async (key, { signal, log }) => {
    const entry = entryOf(key);
    let decision: PresenceDecision = { kind: "correct" };
    const cluster = await writeAgentStatus(
      deps,
      key,
      (current) => {
        const { epoch: connectedEpoch, ended, openStreams } = entryOf(key);
        const now = clock.monotonic();
        decision = decidePresence({
          agent: current.status?.agent,
          connectedEpoch,
          ended: ended && { epoch: ended.epoch, forMs: now - ended.at },
          hasOpenStream: openStreams > 0,
          replica: deps.replica,
          isLeaseHeld: isLeaseHeld(),
          upForMs: now - startedAt,
          returnedForMs: now - returnedAt,
          graceMs: deps.graceMs ?? defaultGraceMs,
          settleMs,
        });
        return reconciledFields(deps, current, decision, { ended, orphans: entry.orphans });
      },
      { signal, fromServer: entry.isDisputed },
    );
    if (entryOf(key).orphans === entry.orphans) update(key, { orphans: undefined });
    if (cluster === undefined) update(key, { ended: undefined });
    const result = resultOf(decision, (message) => log.info({ cluster: key }, message));
    if (result.kind === "done") update(key, { isDisputed: false });
    return result;
  };

  return {
    opened(cluster) {
      const key = clusterKey(cluster);
      update(key, { openStreams: entryOf(key).openStreams + 1 });
    },
    connected,
    orphansChanged(cluster, epoch, names) {
      const key = clusterKey(cluster);
      update(key, { orphans: { epoch, names: names.slice(0, maxOrphans) } });
      notify(key);
    },
    closed,
    handOver() {
      isHandedOver = true;
    },
    reconcile,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    clusterChanged(key, cluster) {
      if (cluster === undefined) update(key, { ended: undefined });
      else if (entryOf(key).epoch !== undefined && cluster.status?.agent?.connected === false) {
        update(key, { isDisputed: true });
        notify(key);
      }
    },
  };
}

function resultOf(decision: PresenceDecision, log: (message: string) => void): Result {
  if (decision.kind === "wait") return requeueAfter(decision.ms, "the agent may reconnect");
  if (decision.kind === "offline") log("agent is offline");
  if (decision.kind === "connected") log("agent is connected, but was recorded as offline");
  return done();
}

type Changes = { readonly [K in keyof Entry]?: Entry[K] | undefined };

/** `undefined` removes a field. */
function withChanges(entry: Entry, changes: Changes): Entry {
  const next = { ...entry, ...changes };
  const { epoch, ended, orphans } = next;
  return {
    openStreams: next.openStreams ?? 0,
    isDisputed: next.isDisputed ?? false,
    ...(epoch !== undefined && { epoch }),
    ...(ended !== undefined && { ended }),
    ...(orphans !== undefined && { orphans }),
  };
}

/** The epoch of a returning agent whose Cluster needs no write; `undefined` when it has to be recorded. */
function keptEpoch(
  { replica, epochFloorOf = noFloor }: PresenceDeps,
  uid: string,
  cluster: Cluster | undefined,
  connection: AgentConnection,
  entry: Entry,
): number | undefined {
  const recorded = cluster?.status?.agent;
  const floor = epochFloorOf(replica);
  const { version, namespace, capabilities, kubernetesVersion, orphans, reportedEpoch } =
    connection;
  const isSame =
    cluster?.metadata.uid === uid &&
    recorded?.version === version &&
    recorded.namespace === namespace &&
    recorded.kubernetesVersion === kubernetesVersion &&
    isDeepStrictEqual(recorded.capabilities, capabilities) &&
    isDeepStrictEqual(orphans.slice(0, maxOrphans), cluster.status?.orphans ?? []);
  // The second stream of this process needs an epoch above the first one's.
  if (!isSame || entry.epoch !== undefined || entry.ended !== undefined) return undefined;
  const stream = { recorded, reportedEpoch, connectedEpoch: 0 };
  return isBelowFloor(stream, replica, floor) ? floor : undefined;
}

const noFloor: EpochFloorOf = () => 0;

function connectedFields(
  { replica, clock, epochFloorOf = noFloor }: PresenceDeps,
  { status }: Cluster,
  connection: AgentConnection,
  connectedEpoch: number,
): AgentFields {
  const agent: ClusterAgent = {
    connected: true,
    lastSeen: formatTime(clock.now()),
    replica,
    epoch: nextEpoch(
      { recorded: status?.agent, reportedEpoch: connection.reportedEpoch, connectedEpoch },
      epochFloorOf,
    ),
    version: connection.version,
    namespace: connection.namespace,
    ...(connection.capabilities && { capabilities: [...connection.capabilities] }),
    ...(connection.kubernetesVersion && { kubernetesVersion: connection.kubernetesVersion }),
    certificateExpiresAt: formatTime(connection.certificateExpiresAt),
  };
  const orphans = connection.orphans.slice(0, maxOrphans);
  return orphans.length === 0 && status?.orphans === undefined ? { agent } : { agent, orphans };
}

/** `undefined` when there is nothing to write. */
function reconciledFields(
  deps: PresenceDeps,
  { status }: Cluster,
  decision: PresenceDecision,
  { ended, orphans: pending }: Pick<Changes, "ended" | "orphans">,
): AgentFields | undefined {
  const agent = agentAfter(deps, status, decision, ended);
  // Names from the present stream, or from the last one.
  const isPresent = pending !== undefined && pending.epoch >= (status?.agent?.epoch ?? 0);
  const orphans = isPresent ? pending.names : undefined;
  const isChanged = orphans !== undefined && !isDeepStrictEqual(orphans, status?.orphans ?? []);
  if (agent === undefined && !isChanged) return undefined;
  return { ...(isChanged && { orphans }), ...(agent && { agent }) };
}

function agentAfter(
  { clock, previousRenewTime }: PresenceDeps,
  status: ClusterStatus | undefined,
  { kind }: PresenceDecision,
  ended: EndedStream | undefined,
): ClusterAgent | undefined {
  const agent = status?.agent;
  if (agent === undefined) return undefined;
  switch (kind) {
    case "offline": {
      // An agent of the previous process was last seen while that process was.
      const isOfThisProcess = ended !== undefined && ended.epoch >= (agent.epoch ?? 0);
      const time = isOfThisProcess
        ? formatTime(clock.now() - (clock.monotonic() - ended.at))
        : (previousRenewTime ?? formatTime(clock.now()));
      const epoch = isOfThisProcess ? { epoch: ended.epoch } : {};
      return { ...agent, ...epoch, connected: false, lastSeen: lastSeen(agent, time) };
    }
    case "connected":
      return { ...agent, connected: true };
    default:
      return undefined;
  }
}

function clusterKey({ namespace, name }: ClusterRef): ObjectKey {
  return keyOf({ namespace, name });
}
