/** The agent's end of the wire in this process, over real TLS; only what it holds is in memory. */
import { createIdentityKeeper } from "@flotilla/agent/identity/identity-keeper.ts";
import { createIdentityStore } from "@flotilla/agent/identity/identity-store.ts";
import { createHubConnector } from "@flotilla/agent/link/hub-client.ts";
import { createLink, type LinkDeps } from "@flotilla/agent/link/link.ts";
import type { Assignment, Intake } from "@flotilla/agent/link/ports.ts";
import type {
  DeploymentKey,
  DeploymentState,
  HeldSupply,
  Holding,
  Supply,
} from "@flotilla/proto/messages.ts";
import type { Packed } from "@flotilla/shared/content/packed.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { supplyKey } from "@flotilla/shared/supply/supply.ts";
import { type Clock, systemClock } from "@flotilla/shared/time/clock.ts";
import { cleanUp } from "../testing/clean-up.ts";
import { type TestLog, testLog, type Watched, watched } from "./watched.ts";

export interface TestAgent extends Watched {
  readonly log: TestLog;
  readonly namespace: string;
  readonly assigned: readonly Assignment[];
  readonly withdrawn: readonly DeploymentKey[];
  readonly link: ReturnType<typeof createLink>;
  /** What it holds; a test may put something there before it connects. */
  readonly held: Map<string, Holding>;
  readonly states: Map<string, DeploymentState>;
  /** Everything that came, in order. */
  readonly facts: readonly Packed[];
  readonly supplies: readonly Supply[];
  /** What came, whatever it was, in order: `facts`, `supply KEY`, `drop KEY`, `assign NAME`. */
  readonly order: readonly string[];
  /** What it holds by key; a test may put something there before it connects. */
  readonly supplied: Map<string, HeldSupply>;
  stop(): Promise<void>;
}

/** Starts an agent that has its Secrets in `namespace`. */
export function startAgent(
  rest: KubeRest,
  namespace: string,
  options: { readonly clock?: Clock; readonly places?: LinkDeps["places"] } = {},
): TestAgent {
  const { clock = systemClock, places } = options;
  const logged = testLog();
  const { log } = logged;
  const watch = watched(() => logged.lines);
  const ending = new AbortController();
  const connectHub = createHubConnector();
  const keeper = createIdentityKeeper({
    store: createIdentityStore(rest, namespace, log),
    connectHub,
    clock,
    log,
    random: () => 0,
  });
  const link = createLink({
    keeper,
    connectHub,
    agentVersion: "test",
    agentNamespace: namespace,
    clock,
    log,
    random: () => 0,
    ...(places !== undefined && { places }),
  });
  const assigned: Assignment[] = [];
  const withdrawn: DeploymentKey[] = [];
  const held = new Map<string, Holding>();
  const states = new Map<string, DeploymentState>();
  const facts: Packed[] = [];
  const supplied = new Map<string, HeldSupply>();
  const supplies: Supply[] = [];
  const order: string[] = [];
  const intake: Intake = {
    holdings: () => [...held.values()],
    states: () => [...states.values()],
    factsDigest: () => facts.at(-1)?.digest,
    takeFacts(packed) {
      facts.push(packed);
      order.push("facts");
      watch.changed();
      return Promise.resolve(true);
    },
    supplies: () => [...supplied.values()],
    takeSupply(supply) {
      const { kind, name, packed } = supply;
      supplied.set(supplyKey(supply), { kind, name, ...(packed && { digest: packed.digest }) });
      supplies.push(supply);
      order.push(`supply ${supplyKey(supply)}`);
      watch.changed();
      return Promise.resolve(true);
    },
    dropSupply(ref) {
      supplied.delete(supplyKey(ref));
      order.push(`drop ${supplyKey(ref)}`);
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
