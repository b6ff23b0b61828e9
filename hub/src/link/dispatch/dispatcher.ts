/** All agents of this replica: one session for each cluster, which gets the changes that concern it. */

import { type ObjectRef, reconnectTrailers } from "@flotilla/proto";
import {
  type Bundle,
  type BundleDeployment,
  type Cluster,
  formatObjectRef,
} from "@flotilla/shared/api";
import { createKeyedRateLimiter, createSemaphore } from "@flotilla/shared/concurrency";
import { byNamespace, type Change, type Informer } from "@flotilla/shared/kube/cache";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { status } from "@grpc/grpc-js";
import {
  bundleKeyOf,
  byBundle,
  byReferencedObject,
  bySourceReport,
  clusterKeyOf,
  clusterNamespaceOf,
  hubErrors,
  isForCluster,
} from "../../base/index.ts";
import {
  changedReferences,
  isAnother,
  isClusterInfoChange,
  signatureOf,
  type WorkspaceObjects,
} from "../../rules/index.ts";
import type { LiveAuthority } from "../authority/live-authority.ts";
import { type AgentCertificate, validateAgent } from "../identity/agent-certificate.ts";
import type { ClusterRef } from "../identity/cluster-identity.ts";
import type { Presence } from "../presence/presence.ts";
import { RpcError, toGrpcError } from "../rpc/errors.ts";
import type { AgentStream } from "../rpc/incoming.ts";
import type { AnswerSink, NewRequest, OpenedRequest } from "./agent-requests.ts";
import type { DesiredState } from "./agent-sync.ts";
import { createDuplicateAgents } from "./duplicate-agents.ts";
import { affectsAgent } from "./plan.ts";
import { openSession, type Session, type SessionDeps } from "./session.ts";

export interface DispatcherDeps extends SessionDeps {
  readonly deployments: Pick<Informer<BundleDeployment>, "store" | "onChange">;
  readonly bundles: Pick<Informer<Bundle>, "onChange">;
  readonly clusters: Pick<Informer<Cluster>, "store" | "onChange">;
  readonly objects: Pick<WorkspaceObjects, "get" | "onChange">;
  readonly authority: Pick<LiveAuthority, "trusted" | "confirmed" | "onChange">;
  readonly presence: SessionDeps["presence"] & Pick<Presence, "handOver">;
  readonly events: EventRecorder;
}

export interface Dispatcher {
  /** How many agents are connected. */
  readonly size: number;
  accept(stream: AgentStream, agent: AgentCertificate): void;
  /** Sends a request of a user to the agent of a Cluster; `offline` if it is not connected to this replica. */
  request(cluster: ObjectKey, request: NewRequest, sink: AnswerSink): OpenedRequest;
  /** Ends all streams so that their agents reconnect at once, to another replica. */
  close(): void;
}

/**
 * Registrations that are written at a time. After a restart of the hub all agents connect at once, each with one write; other
 * writes, above all the renewal of the leader's Lease, must not wait behind thousands of them.
 */
const maxRegistrations = 16;

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { deployments, clusters, clock, metrics } = deps;
  const byCluster = new Map<ObjectKey, Session>();
  const duplicates = createDuplicateAgents(clock);
  // Agents back off. Each connection of one that does not would be a write of its Cluster.
  const connections = createKeyedRateLimiter({ clock, perSecond: 1, burst: 20 });
  const registrations = createSemaphore(maxRegistrations);
  let isClosed = false;

  function clusterChanged(change: Change<Cluster>): void {
    const { key, before, after } = change;
    duplicates.clusterChanged(change);
    const session = byCluster.get(key);
    if (session === undefined) return;
    if (isClusterInfoChange(before, after)) session.changed({ kind: "clusterInfo" });
    const error = validateAgent(session.agent, after);
    if (error !== undefined) session.end(error);
    else if (after && clusterNamespaceOf(after) !== session.cluster.deploymentsNamespace)
      session.end(moved(key));
    else if (session.epoch > 0 && (after?.status?.agent?.epoch ?? 0) > session.epoch)
      replace(key, session);
  }

  function sessionOf(deployment: BundleDeployment): Session | undefined {
    const session = byCluster.get(clusterKeyOf(deployment));
    const { namespace } = deployment.metadata;
    return session?.cluster.deploymentsNamespace === namespace ? session : undefined;
  }

  const stopListening = [
    deployments.onChange((change) => {
      const deployment = change.after ?? change.before;
      const session = deployment && sessionOf(deployment);
      if (session !== undefined) deploymentChanged(session, change);
    }),
    // What was written for it counts from now on, or no longer.
    deps.bundles.onChange((change) => {
      if (!isAnother(change)) return;
      for (const each of deployments.store.byIndex(byBundle, change.key)) {
        const session = sessionOf(each);
        if (session === undefined || ofCluster(each, session.cluster.uid) === undefined) continue;
        for (const ref of changedReferences(undefined, each).added) objectChanged(session, ref);
        session.changed({ kind: "deployment", name: each.metadata.name });
      }
    }),
    deps.objects.onChange((namespace, ref) => {
      for (const named of [ref, { ...ref, name: `${namespace}/${ref.name}` }]) {
        const referring = deployments.store.byIndex(byReferencedObject, formatObjectRef(named));
        for (const each of new Set(referring.map(clusterKeyOf))) {
          const session = byCluster.get(each);
          if (named !== ref || session?.cluster.namespace === namespace)
            if (session !== undefined) objectChanged(session, named);
        }
      }
    }),
    deps.authority.onChange(() => {
      for (const session of byCluster.values()) session.changed({ kind: "authorities" });
    }),
    clusters.onChange(clusterChanged),
  ];

  function accept(stream: AgentStream, agent: AgentCertificate): void {
    const { namespace, name, uid } = agent.identity;
    const key = keyOf({ namespace, name });
    // Again, after the interceptor: changes since then reached no session.
    const known = clusters.store.get(key);
    const error = validateAgent(agent, known) ?? connectionLimited(key);
    if (error !== undefined || known === undefined) {
      stream.emit("error", toGrpcError(error ?? moved(key)));
      return;
    }
    const previous = byCluster.get(key);
    if (previous !== undefined) replace(key, previous);
    const deploymentsNamespace = clusterNamespaceOf(known);
    const cluster = { namespace, name, uid, deploymentsNamespace };
    const session = openSession(deps, {
      stream,
      cluster,
      agent,
      desired: desiredState(deps, cluster),
      previous: previous?.ended ?? Promise.resolve(),
      registrations,
    });
    byCluster.set(key, session);
    metrics.agents.set(byCluster.size);
    void session.ended.then(() => {
      if (byCluster.get(key) !== session) return;
      byCluster.delete(key);
      metrics.agents.set(byCluster.size);
    });
    if (isClosed) handOver(session);
  }

  function connectionLimited(key: ObjectKey): RpcError | undefined {
    if (connections.take(key)) return undefined;
    const error = new RpcError(
      status.RESOURCE_EXHAUSTED,
      hubErrors.AGENT_RATE_LIMITED,
      `the agent of Cluster ${key} connects too often; back off before the next attempt`,
    );
    const fields = { cluster: key, code: error.code };
    const message = "agent connects too often";
    deps.rejections.rejected(key, { reason: "connection_rate", fields, message });
    return error;
  }

  function replace(key: ObjectKey, previous: Session): void {
    previous.end(replaced(key));
    if (duplicates.replaced(key)) reportDuplicate(deps, key);
  }

  return {
    get size() {
      return byCluster.size;
    },
    accept,
    request: (cluster, request, sink) =>
      byCluster.get(cluster)?.request(request, sink) ?? { kind: "offline" },
    close() {
      isClosed = true;
      deps.presence.handOver();
      for (const stop of stopListening) stop();
      for (const session of byCluster.values()) handOver(session);
    },
  };
}

function desiredState(
  { deployments, clusters }: Pick<DispatcherDeps, "deployments" | "clusters">,
  { namespace, name, uid, deploymentsNamespace }: ClusterRef,
): DesiredState {
  const key = keyOf({ namespace, name });
  // Both: a namespace may have deployments of an earlier Cluster of this name, or of another Cluster.
  const ofCluster = (deployment: BundleDeployment | undefined) =>
    deployment !== undefined && clusterKeyOf(deployment) === key && isForCluster(deployment, uid)
      ? deployment
      : undefined;
  return {
    deployment: (each) =>
      ofCluster(deployments.store.get(keyOf({ namespace: deploymentsNamespace, name: each }))),
    sourceReports(each) {
      const found = deployments.store.get(keyOf({ namespace: deploymentsNamespace, name: each }));
      if (found === undefined) return [];
      // Its label alone makes no deployment one of the Bundle.
      return deployments.store
        .byIndex(bySourceReport, bundleKeyOf(found))
        .filter(({ metadata }) => metadata.name === each);
    },
    deployments: () =>
      deployments.store
        .byIndex(byNamespace, deploymentsNamespace)
        .filter((deployment) => ofCluster(deployment) !== undefined),
    cluster: () => clusters.store.get(key),
  };
}

/** New references are sent before the deployment that needs them, dropped ones after it. */
function deploymentChanged(session: Session, change: Change<BundleDeployment>): void {
  const { uid } = session.cluster;
  const { name } = refOf(change.key);
  const [before, after] = [ofCluster(change.before, uid), ofCluster(change.after, uid)];
  const { added, dropped } = changedReferences(before, after);
  for (const ref of added) objectChanged(session, ref);
  if (after !== undefined && (before && signatureOf(before)) !== signatureOf(after))
    for (const ref of changedReferences(undefined, after).added) objectChanged(session, ref);
  if (affectsAgent(before, after)) session.changed({ kind: "deployment", name });
  for (const ref of dropped) objectChanged(session, ref);
  if (before === undefined || after === undefined) session.deploymentsChanged(name);
}

function objectChanged(session: Session, ref: ObjectRef): void {
  session.changed({ kind: "referencedObject", ref });
}

function ofCluster(
  deployment: BundleDeployment | undefined,
  uid: string,
): BundleDeployment | undefined {
  return deployment !== undefined && isForCluster(deployment, uid) ? deployment : undefined;
}

function reportDuplicate(
  { clusters, events, log }: Pick<DispatcherDeps, "clusters" | "events" | "log">,
  key: ObjectKey,
): void {
  const note =
    "two agents with the identity of this cluster keep replacing each other's connection; the Secret flotilla-agent/flotilla-identity was probably copied: delete it in one of the two clusters and enrol that one as a cluster of its own";
  log.warn({ cluster: key }, note);
  const cluster = clusters.store.get(key);
  if (cluster === undefined) return;
  events.record(cluster, { type: "Warning", reason: "DuplicateAgent", action: "Connect", note });
}

function handOver(session: Session): void {
  const message = "this replica of the hub is stopping; reconnect to another";
  session.end(
    new RpcError(status.UNAVAILABLE, hubErrors.HUB_NOT_READY, message, {
      trailers: reconnectTrailers(),
    }),
  );
}

/** The Cluster has another namespace now: what its agent gets is there. */
function moved(key: ObjectKey): RpcError {
  const message = `the namespace of Cluster ${key} on the hub has changed; reconnect`;
  return new RpcError(status.UNAVAILABLE, hubErrors.HUB_NOT_READY, message, {
    trailers: reconnectTrailers(),
  });
}

function replaced(key: ObjectKey): RpcError {
  const message = `another agent connected as Cluster ${key}; the newer connection replaces this one`;
  return new RpcError(status.ABORTED, hubErrors.AGENT_REPLACED, message);
}
