/** All agents of this replica: one stream for each cluster, and the changes that concern it. */
import { reconnectTrailers } from "@flotilla/proto/trailers.ts";
import { type BundleDeployment, formatObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusterNamespaceName } from "@flotilla/shared/api/names.ts";
import { createSemaphore } from "@flotilla/shared/concurrency/semaphore.ts";
import type { Informer } from "@flotilla/shared/kube/cache/informer.ts";
import { byNamespace } from "@flotilla/shared/kube/cache/object-index.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import { status } from "@grpc/grpc-js";
import { isForCluster } from "../deploy/deployment-cluster.ts";
import { type AgentCertificate, lossOf } from "../serve/agent-certificate.ts";
import { RpcError, serveErrors, statusOf } from "../serve/errors.ts";
import { createRateLimit } from "../serve/rate-limit.ts";
import { isFactsChange } from "../supply/facts-of.ts";
import { bySupply, changedSupplies } from "../supply/named-by-deployments.ts";
import { concernsAgent } from "./plan-handout.ts";
import { type AgentStream, openSession, type Session, type SessionDeps } from "./session.ts";
import { createTwoAgents } from "./two-agents.ts";

export interface HandoutDeps extends SessionDeps {
  readonly deployments: Pick<Informer<BundleDeployment>, "store" | "onChange">;
  readonly clusters: Pick<Informer<Cluster>, "store" | "onChange">;
  readonly events: EventRecorder;
}

export interface Handout {
  /** How many agents are connected. */
  readonly size: number;
  accept(stream: AgentStream, agent: AgentCertificate): void;
  /** Ends all streams so that their agents connect again at once, elsewhere. */
  close(): void;
}

/**
 * Arrivals being written at a time. All agents come at once when the hub was started anew, and each of them is a write: what
 * else is to be written, the leader's Lease first, must not wait behind thousands of them.
 */
const arrivalsAtATime = 16;

export function createHandout(deps: HandoutDeps): Handout {
  const { deployments, clusters, clock, log, metrics } = deps;
  const byCluster = new Map<ObjectKey, Session>();
  const sessions = new Map<string, Session>();
  const twoAgents = createTwoAgents(clock);
  // An agent backs off between its tries; one that does not would have the hub write its Cluster each time.
  const connects = createRateLimit({ clock, perSecond: 1, burst: 20 });
  const arrivals = createSemaphore(arrivalsAtATime);
  let isClosed = false;

  const stopListening = [
    deployments.onChange(({ key, before, after }) => {
      const { namespace = "", name } = refOf(key);
      const session = sessions.get(namespace);
      if (session === undefined) return;
      const was = ofCluster(before, session.cluster.uid);
      const is = ofCluster(after, session.cluster.uid);
      const { added, dropped } = changedSupplies(was, is);
      for (const ref of added) session.supplyChanged(ref);
      if (concernsAgent(was, is)) session.changed(name);
      for (const ref of dropped) session.supplyChanged(ref);
      if (was === undefined || is === undefined) session.cameOrWent(name);
    }),
    deps.objects.onChange((namespace, ref) => {
      const namers = deployments.store.byIndex(bySupply, formatObjectRef(ref));
      for (const house of new Set(namers.map(({ metadata }) => metadata.namespace ?? ""))) {
        const session = sessions.get(house);
        if (session?.cluster.namespace === namespace) session.supplyChanged(ref);
      }
    }),
    deps.authority.onChange(() => {
      for (const session of byCluster.values()) session.authoritiesChanged();
    }),
    clusters.onChange((change) => {
      const { key, before, after } = change;
      twoAgents.clusterChanged(change);
      const session = byCluster.get(key);
      if (session === undefined) return;
      if (isFactsChange(before, after)) session.factsChanged();
      const loss = lossOf(session.agent, after);
      if (loss !== undefined) session.end(loss);
      else if (session.epoch > 0 && (after?.status?.agent?.epoch ?? 0) > session.epoch)
        replace(key, session);
    }),
  ];

  function accept(stream: AgentStream, agent: AgentCertificate): void {
    const { namespace, name, uid } = agent.identity;
    const key = keyOf({ namespace, name });
    const deploymentsNamespace = clusterNamespaceName(namespace, name);
    // Whatever has changed since the door was opened was told to nobody.
    const loss = lossOf(agent, clusters.store.get(key));
    if (loss !== undefined) {
      stream.emit("error", statusOf(loss));
      return;
    }
    if (!connects.take(key)) {
      const busy = tooBusy(key);
      const fields = { cluster: key, code: busy.code };
      const message = "agent connects too often";
      deps.refusals.refused(key, { reason: "connects", fields, message });
      stream.emit("error", statusOf(busy));
      return;
    }
    const previous = byCluster.get(key);
    if (previous !== undefined) replace(key, previous);
    const session = openSession(deps, {
      stream,
      cluster: { namespace, name, uid, deploymentsNamespace },
      agent,
      wanted: (wanted) =>
        ofCluster(
          deployments.store.get(keyOf({ namespace: deploymentsNamespace, name: wanted })),
          uid,
        ),
      allWanted: () =>
        deployments.store
          .byIndex(byNamespace, deploymentsNamespace)
          .filter((deployment) => isForCluster(deployment, uid)),
      clusterNow: () => clusters.store.get(key),
      previous: previous?.ended ?? Promise.resolve(),
      arrivals,
    });
    byCluster.set(key, session);
    sessions.set(deploymentsNamespace, session);
    metrics.agents.set(byCluster.size);
    void session.ended.then(() => {
      if (byCluster.get(key) !== session) return;
      byCluster.delete(key);
      sessions.delete(deploymentsNamespace);
      metrics.agents.set(byCluster.size);
    });
    if (isClosed) handOver(session);
  }

  function replace(key: ObjectKey, previous: Session): void {
    previous.end(replaced(key));
    if (!twoAgents.replaced(key)) return;
    const note =
      "agents with the identity of this cluster replace each other again and again; two agents may use copies of one Secret flotilla-agent/flotilla-identity: delete it in one of them and enrol that one as a cluster of its own";
    log.warn({ cluster: key }, note);
    const cluster = clusters.store.get(key);
    if (cluster === undefined) return;
    deps.events.record(cluster, { type: "Warning", reason: "TwoAgents", action: "Connect", note });
  }

  return {
    get size() {
      return byCluster.size;
    },
    accept,
    close() {
      isClosed = true;
      deps.presence.handOver();
      for (const stop of stopListening) stop();
      for (const session of byCluster.values()) handOver(session);
    },
  };
}

function ofCluster(
  deployment: BundleDeployment | undefined,
  uid: string,
): BundleDeployment | undefined {
  return deployment !== undefined && isForCluster(deployment, uid) ? deployment : undefined;
}

function handOver(session: Session): void {
  const message = "the hub is going away; connect again, another or a new one will answer";
  session.end(
    new RpcError(status.UNAVAILABLE, serveErrors.HUB_NOT_READY, message, {
      trailers: reconnectTrailers(),
    }),
  );
}

function tooBusy(key: ObjectKey): RpcError {
  const message = `the agent of Cluster ${key} connects again and again; wait a moment before the next try`;
  return new RpcError(status.RESOURCE_EXHAUSTED, serveErrors.AGENT_TOO_BUSY, message);
}

function replaced(key: ObjectKey): RpcError {
  const message = `another agent connected as Cluster ${key}, and the newer connection is kept`;
  return new RpcError(status.ABORTED, serveErrors.AGENT_REPLACED, message);
}
