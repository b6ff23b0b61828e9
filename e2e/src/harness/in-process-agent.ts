/** The agent's end of the wire in this process, over real TLS; only what it holds is in memory. */
import type { AssignmentRequest, Intake } from "@flotilla/agent/assignment";
import { createHubConnection, type HubConnectionDeps } from "@flotilla/agent/connection";
import { createHubConnector } from "@flotilla/agent/hubclient";
import { createIdentityController, createIdentityStore } from "@flotilla/agent/identity";
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
import { type TestLog, testLog, type Watched, watched } from "./change-signal.ts";
import { cleanUp } from "./cleanup.ts";

export interface TestAgent extends Watched {
  readonly log: TestLog;
  readonly namespace: string;
  readonly assigned: readonly AssignmentRequest[];
  readonly withdrawn: readonly DeploymentKey[];
  readonly link: ReturnType<typeof createHubConnection>;
  /** What it holds; a test may put something there before it connects. */
  readonly held: Map<string, ObservedDeployment>;
  readonly states: Map<string, DeploymentState>;
  /** Everything that came, in order. */
  readonly facts: readonly Packed[];
  readonly supplies: readonly ReferencedObject[];
  /** What came, whatever it was, in order: `facts`, `supply KEY`, `drop KEY`, `assign NAME`. */
  readonly order: readonly string[];
  /** What it holds by key; a test may put something there before it connects. */
  readonly supplied: Map<string, ObservedObject>;
  stop(): Promise<void>;
}

/** Starts an agent that has its Secrets in `namespace`. */
export function startAgent(
  rest: KubeRest,
  namespace: string,
  options: { readonly clock?: Clock; readonly places?: HubConnectionDeps["handshakes"] } = {},
): TestAgent {
  const { clock = systemClock, places } = options;
  const logged = testLog();
  const { log } = logged;
  const watch = watched(() => logged.lines);
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
    ...(places !== undefined && { handshakes: places }),
  });
  const assigned: AssignmentRequest[] = [];
  const withdrawn: DeploymentKey[] = [];
  const held = new Map<string, ObservedDeployment>();
  const states = new Map<string, DeploymentState>();
  const facts: Packed[] = [];
  const supplied = new Map<string, ObservedObject>();
  const supplies: ReferencedObject[] = [];
  const order: string[] = [];
  const intake: Intake = {
    inventory: () => [...held.values()],
    states: () => [...states.values()],
    clusterInfoDigest: () => facts.at(-1)?.digest,
    setClusterInfo(packed) {
      facts.push(packed);
      order.push("facts");
      watch.changed();
      return Promise.resolve(true);
    },
    referencedObjects: () => [...supplied.values()],
    setReferencedObject(supply) {
      const { kind, name, packed } = supply;
      supplied.set(formatObjectRef(supply), {
        kind,
        name,
        ...(packed && { digest: packed.digest }),
      });
      supplies.push(supply);
      order.push(`supply ${formatObjectRef(supply)}`);
      watch.changed();
      return Promise.resolve(true);
    },
    withdrawReferencedObject(ref) {
      supplied.delete(formatObjectRef(ref));
      order.push(`drop ${formatObjectRef(ref)}`);
      watch.changed();
      return Promise.resolve();
    },
    assign(assignment) {
      const { deployment, deploymentId, paused } = assignment;
      held.set(deployment.name, { ...deployment, deploymentId, paused, withdrawing: false });
      assigned.push(assignment);
      order.push(`assign ${deployment.name}`);
      watch.changed();
      return Promise.resolve(true);
    },
    withdraw(deployment) {
      held.delete(deployment.name);
      states.delete(deployment.name);
      withdrawn.push(deployment);
      link.outbox.withdrawn(deployment);
      watch.changed();
      return Promise.resolve(true);
    },
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
    held,
    states,
    facts,
    supplied,
    supplies,
    order,
    stop,
    ...watch,
  };
}
