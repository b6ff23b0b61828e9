/** The agent's end of the wire in this process, over real TLS. Its assignments and objects are in memory. */

import { createHubConnection, type HubConnectionDeps } from "@flotilla/agent/link";
import {
  type AssignmentRequest,
  createHubConnector,
  createIdentityController,
  createIdentityStore,
  type Intake,
} from "@flotilla/agent/state";
import type {
  DeploymentKey,
  DeploymentState,
  ObservedDeployment,
  ObservedObject,
  ReferencedObject,
} from "@flotilla/proto";
import { formatObjectRef } from "@flotilla/shared/api";
import type { Packed } from "@flotilla/shared/content";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Clock, systemClock } from "@flotilla/shared/time";
import { type ChangeSignal, createChangeSignal, type TestLog, testLog } from "./change-signal.ts";
import { cleanUp } from "./cleanup.ts";

export interface InProcessAgent extends ChangeSignal {
  readonly log: TestLog;
  readonly namespace: string;
  readonly assigned: readonly AssignmentRequest[];
  readonly withdrawn: readonly DeploymentKey[];
  readonly link: ReturnType<typeof createHubConnection>;
  /** Its deployments by name; a test may add some before it connects. */
  readonly observed: Map<string, ObservedDeployment>;
  readonly states: Map<string, DeploymentState>;
  /** Every cluster info that it has received, in order. */
  readonly clusterInfo: readonly Packed[];
  /** Every referenced object that it has received, in order. */
  readonly receivedObjects: readonly ReferencedObject[];
  /** Everything that it has received, in order: `info`, `object KEY`, `withdraw KEY`, `assign NAME`. */
  readonly order: readonly string[];
  /** Its referenced objects by key; a test may add some before it connects. */
  readonly referencedObjects: Map<string, ObservedObject>;
  stop(): Promise<void>;
}

/** Starts an agent that has its Secrets in `namespace`. */
export function startInProcessAgent(
  rest: KubeRest,
  namespace: string,
  options: { readonly clock?: Clock; readonly handshakes?: HubConnectionDeps["handshakes"] } = {},
): InProcessAgent {
  const { clock = systemClock, handshakes } = options;
  const logged = testLog();
  const { log } = logged;
  const watch = createChangeSignal(() => logged.lines);
  const ending = new AbortController();
  const connectHub = createHubConnector();
  const identity = createIdentityController({
    store: createIdentityStore(rest, namespace, log),
    connectHub,
    clock,
    log,
    random: () => 0,
  });
  const link = createHubConnection({
    identity,
    connectHub,
    agentVersion: "test",
    agentNamespace: namespace,
    clock,
    log,
    random: () => 0,
    ...(handshakes !== undefined && { handshakes }),
  });
  const assigned: AssignmentRequest[] = [];
  const withdrawn: DeploymentKey[] = [];
  const observed = new Map<string, ObservedDeployment>();
  const states = new Map<string, DeploymentState>();
  const clusterInfo: Packed[] = [];
  const referencedObjects = new Map<string, ObservedObject>();
  const receivedObjects: ReferencedObject[] = [];
  const order: string[] = [];
  const intake: Intake = {
    deployments: () => [...observed.values()],
    states: () => [...states.values()],
    clusterInfoDigest: () => clusterInfo.at(-1)?.digest,
    setClusterInfo(packed) {
      clusterInfo.push(packed);
      order.push("info");
      watch.changed();
      return Promise.resolve(true);
    },
    referencedObjects: () => [...referencedObjects.values()],
    setReferencedObject(object) {
      const { kind, name, packed } = object;
      referencedObjects.set(formatObjectRef(object), {
        kind,
        name,
        ...(packed && { digest: packed.digest }),
      });
      receivedObjects.push(object);
      order.push(`object ${formatObjectRef(object)}`);
      watch.changed();
      return Promise.resolve(true);
    },
    withdrawReferencedObject(ref) {
      referencedObjects.delete(formatObjectRef(ref));
      order.push(`withdraw ${formatObjectRef(ref)}`);
      watch.changed();
      return Promise.resolve();
    },
    assign(assignment) {
      const { deployment, deploymentId, paused } = assignment;
      observed.set(deployment.name, { ...deployment, deploymentId, paused, withdrawing: false });
      assigned.push(assignment);
      order.push(`assign ${deployment.name}`);
      watch.changed();
      return Promise.resolve(true);
    },
    withdraw(deployment) {
      observed.delete(deployment.name);
      states.delete(deployment.name);
      withdrawn.push(deployment);
      link.outbox.withdrawn(deployment);
      watch.changed();
      return Promise.resolve(true);
    },
    synced: () => Promise.resolve(),
  };
  const running = link.run(intake, ending.signal);
  let isStopped = false;
  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    ending.abort();
    await running;
  }
  cleanUp(stop);
  return {
    log: logged,
    namespace,
    assigned,
    withdrawn,
    link,
    observed,
    states,
    clusterInfo,
    referencedObjects,
    receivedObjects,
    order,
    stop,
    ...watch,
  };
}
