/**
 * Keeps one connected agent in sync: a send queue keyed by subject, whose messages are built from the caches when they
 * are sent, so that a message is never stale.
 */
import {
  createSendQueue,
  type HubMessage,
  hubMessageToWire,
  type MakeMessage,
  writeMessage,
} from "@flotilla/proto";
import { type BundleDeployment, type Cluster, formatObjectRef } from "@flotilla/shared/api";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import {
  type ContentReader,
  type DeploymentTrust,
  onHub,
  type WorkspaceObjects,
} from "../../rules/index.ts";
import type { LiveAuthority } from "../authority/live-authority.ts";
import type { ClusterRef } from "../identity/cluster-identity.ts";
import type { AgentStream } from "../rpc/incoming.ts";
import { createAssignments } from "./assignments.ts";
import type { DispatchMetrics } from "./metrics.ts";
import { createReferencedObjectSync } from "./referenced-objects.ts";
import type { Registration, Subject } from "./session-state.ts";
import { createTrustedAuthorities } from "./trusted-authorities.ts";
import { createWithdrawals } from "./withdrawals.ts";

/** One cluster's objects in the caches, as they are now. */
export interface DesiredState {
  /** The BundleDeployment of a name in the cluster namespace. */
  deployment(name: string): BundleDeployment | undefined;
  /** All of them, those being deleted included. */
  deployments(): readonly BundleDeployment[];
  /** The deployments of the same Bundle, in all clusters, whose agents reported what they received of a bucket. */
  sourceReports(name: string): readonly BundleDeployment[];
  cluster(): Cluster | undefined;
}

export interface AgentSyncDeps {
  readonly hubId: string;
  readonly hubVersion: string;
  /** The API server itself, for what must not be decided from a cache. */
  readonly rest: Pick<KubeRest, "get">;
  readonly contents: ContentReader;
  readonly trust: DeploymentTrust;
  readonly objects: Pick<WorkspaceObjects, "get">;
  readonly authority: Pick<LiveAuthority, "trusted" | "confirmed">;
  readonly metrics: DispatchMetrics;
  readonly clock: Clock;
}

export interface AgentSyncOptions {
  readonly stream: AgentStream;
  readonly cluster: ClusterRef;
  readonly desired: DesiredState;
  readonly registration: Registration;
  readonly log: Log;
  /** Called once, when a message cannot be made or sent. */
  readonly onFailed: (thrown: unknown) => void;
}

export interface AgentSync {
  /** Enqueues a subject; its message, if one is due, is built when it is sent. */
  enqueue(subject: Subject): void;
  /** The latest acknowledgement of a name replaces one that was not sent. `onSent`: called when it is sent. */
  acknowledge(name: string, sequence: number, onSent: () => void): void;
  /** Enqueues a message of a request. */
  readonly put: (key: string, make: MakeMessage<HubMessage>) => void;
  /** Whether the agent has a deployment of that name that it is not uninstalling. */
  hasDeployment(name: string): boolean;
  /** The agent no longer has it. */
  uninstalled(name: string, uid: string): void;
  close(): void;
}

/** Enqueues the welcome, what differs from what the agent has stored, and the end of the first sync. */
export function createAgentSync(deps: AgentSyncDeps, options: AgentSyncOptions): AgentSync {
  const { stream, cluster, desired, registration, log } = options;
  const { hello, version, epoch, plan } = registration;
  const { metrics, authority } = deps;
  const queue = createSendQueue<HubMessage>({
    send: (message) => {
      if (isCounted(message)) metrics.sent.inc({ kind: message.kind });
      return writeMessage(stream, hubMessageToWire(message));
    },
    onError: options.onFailed,
  });
  const { rest, contents, trust, clock } = deps;
  const assignments = createAssignments({
    contents,
    trust,
    clock,
    protocolVersion: version,
    stored: hello.deployments,
    capabilities: hello.capabilities ?? [],
    desired: desired.deployment,
    sourceReports: desired.sourceReports,
    withdrawals: createWithdrawals({ rest, cluster, deployments: desired.deployments }),
    enqueue: (name) => enqueue({ kind: "deployment", name }),
    log,
  });
  const referenced = createReferencedObjectSync({
    stored: hello.referencedObjects,
    clusterInfoDigest: hello.clusterInfoDigest,
    deployments: desired.deployments,
    trust,
    cluster: desired.cluster,
    sourceOf: (ref) => deps.objects.get(...onHub(ref, cluster.namespace)),
  });
  const { authoritiesDigest } = hello;
  const authorities =
    authoritiesDigest === undefined
      ? undefined
      : createTrustedAuthorities({ authority, agentDigest: authoritiesDigest, log });

  function enqueue(subject: Subject): void {
    const [key, make] = messageFor(subject);
    queue.put(key, make);
  }

  function messageFor(subject: Subject): readonly [key: string, make: MakeMessage<HubMessage>] {
    switch (subject.kind) {
      case "deployment":
        return [`deployment/${subject.name}`, () => assignments.next(subject.name)];
      case "referencedObject":
        return [
          `referencedObject/${formatObjectRef(subject.ref)}`,
          () => referenced.next(subject.ref),
        ];
      case "clusterInfo":
        return ["clusterInfo", () => referenced.nextClusterInfo()];
      case "authorities":
        return ["authorities", () => authorities?.next()];
    }
  }

  const { hubId, hubVersion } = deps;
  const objects = referenced.plan();
  queue.put("welcome", () => ({
    kind: "welcome",
    protocolVersion: version,
    hubId,
    epoch,
    hubVersion,
  }));
  enqueue({ kind: "authorities" });
  enqueue({ kind: "clusterInfo" });
  for (const ref of objects.send) enqueue({ kind: "referencedObject", ref });
  for (const { deployment } of plan.steps) enqueue({ kind: "deployment", name: deployment.name });
  for (const ref of objects.withdraw) enqueue({ kind: "referencedObject", ref });
  queue.put("synced", () => ({ kind: "synced", orphans: plan.orphans }));

  return {
    enqueue,
    acknowledge: (name, sequence, onSent) =>
      queue.put(`ack/${name}`, () => {
        onSent();
        return { kind: "stateAck", name, sequence };
      }),
    put: (key, make) => queue.put(key, make),
    hasDeployment: assignments.has,
    uninstalled: assignments.uninstalled,
    close() {
      queue.close();
      assignments.close();
    },
  };
}

/** Whether it carries desired state, and is not part of the stream's own protocol. */
function isCounted({ kind }: HubMessage): boolean {
  const own = ["welcome", "authorities", "synced", "stateAck", "request", "requestCancellation"];
  return !own.includes(kind);
}
