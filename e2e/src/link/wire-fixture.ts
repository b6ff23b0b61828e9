/** Both ends of the wire in one process, over real TLS and a real API server; only what lies behind them is in memory. */
import { createHash } from "node:crypto";
import { after } from "node:test";
import { createIdentityKeeper } from "@flotilla/agent/identity/identity-keeper.ts";
import { createIdentityStore } from "@flotilla/agent/identity/identity-store.ts";
import { createHubConnector } from "@flotilla/agent/link/hub-client.ts";
import { createLink } from "@flotilla/agent/link/link.ts";
import type { Assignment, Intake } from "@flotilla/agent/link/ports.ts";
import { clusterIndexers, tokenIndexers } from "@flotilla/hub/enroll/indexes.ts";
import { deploymentIndexers } from "@flotilla/hub/handout/handout.ts";
import type { ReportPlace, ReportSink } from "@flotilla/hub/handout/report-sink.ts";
import { createWire, type Wire, type WireOptions } from "@flotilla/hub/serve/wire.ts";
import { followNamedByDeployments } from "@flotilla/hub/supply/named-by-deployments.ts";
import { createWorkspaceObjects } from "@flotilla/hub/supply/workspace-objects.ts";
import { startTestControlPlane } from "@flotilla/local/testing/test-parts.ts";
import type {
  DeploymentKey,
  DeploymentState,
  HeldSupply,
  Holding,
  Supply,
} from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { allCrds } from "@flotilla/shared/api/crd/crds.ts";
import {
  clusterLabel,
  clusterNamespaceLabel,
  clusterNamespaceName,
} from "@flotilla/shared/api/names.ts";
import {
  apiVersion,
  bundleDeployments,
  clusterRegistrationTokens,
  clusters,
} from "@flotilla/shared/api/resources.ts";
import { type Clock, systemClock } from "@flotilla/shared/clock/clock.ts";
import type { Packed } from "@flotilla/shared/content/packed.ts";
import { connectKube } from "@flotilla/shared/kube/connect.ts";
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  namespaces,
  type Secret,
  secrets,
} from "@flotilla/shared/kube/core-resources.ts";
import { createEventRecorder } from "@flotilla/shared/kube/events.ts";
import { createInformer, type Informer } from "@flotilla/shared/kube/informer.ts";
import { loadKubeconfig } from "@flotilla/shared/kube/kubeconfig.ts";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { supplyKey } from "@flotilla/shared/supply/supply.ts";
import { Registry } from "prom-client";
import { type TestLog, testLog, type Watched, watched } from "./watched.ts";

export const workspace = "fleet-default";
const deploymentFinalizer = "flotilla.dev/test";

/** A control plane with the CRDs and the namespaces of the product; it lasts for the file. */
export async function startHubCluster(): Promise<KubeRest> {
  const plane = await startTestControlPlane({ after }, { workloads: false });
  const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
  after(() => rest.close());
  for (const crd of allCrds()) {
    await rest.create(customResourceDefinitions, crd);
  }
  for (const name of ["flotilla-system", workspace]) await createNamespace(rest, name);
  for (const resource of [clusters, bundleDeployments, clusterRegistrationTokens]) {
    await served(rest, resource);
  }
  return rest;
}

export async function createNamespace(rest: KubeRest, name: string): Promise<void> {
  await rest.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/** A new kind is served a moment after its CRD was created: its Established condition is watched for. */
async function served(rest: KubeRest, resource: Resource<KubeObject>): Promise<void> {
  const name = `${resource.plural}.${resource.group}`;
  const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
    status?.conditions?.some((one) => one.type === "Established" && one.status === "True") === true;
  const page = await rest.list(customResourceDefinitions, {
    fieldSelector: `metadata.name=${name}`,
  });
  if (page.items.some(isEstablished)) return;
  const events = rest.watch(customResourceDefinitions, {
    fieldSelector: `metadata.name=${name}`,
    resourceVersion: page.resourceVersion,
    timeoutSeconds: 30,
  });
  for await (const event of events) {
    if (event.type !== "BOOKMARK" && isEstablished(event.object)) return;
  }
  throw new Error(`${name} was not served within 30 s`);
}

export interface KeptReport {
  readonly cluster: string;
  readonly place: ReportPlace;
  readonly state: DeploymentState;
}

export interface TestHub extends Watched {
  readonly wire: Wire;
  readonly port: number;
  readonly log: TestLog;
  readonly clusters: Informer<Cluster>;
  readonly deployments: Informer<BundleDeployment>;
  readonly tokens: Informer<ClusterRegistrationToken>;
  readonly kept: readonly KeptReport[];
  /** Ends it as a process that is stopped in good order. */
  stop(): Promise<void>;
}

export interface HubOptions extends Partial<WireOptions> {
  readonly port?: number;
  readonly clock?: Clock;
  /** The contents by deployment id; by default each is its own id in bytes. */
  readonly content?: (deploymentId: string) => Uint8Array;
}

export async function startHub(rest: KubeRest, options: HubOptions = {}): Promise<TestHub> {
  const { port = 0, clock = systemClock, content = Buffer.from, ...wireOptions } = options;
  const logged = testLog();
  const { log } = logged;
  const watch = watched(() => logged.lines);
  const ending = new AbortController();
  const informers = {
    clusters: createInformer({ rest, resource: clusters, log, indexers: clusterIndexers }),
    deployments: createInformer({
      rest,
      resource: bundleDeployments,
      log,
      indexers: deploymentIndexers,
    }),
    tokens: createInformer({
      rest,
      resource: clusterRegistrationTokens,
      log,
      indexers: tokenIndexers,
    }),
  };
  const objects = createWorkspaceObjects({ rest, clock, log });
  followNamedByDeployments(informers.deployments, objects);
  const running = Object.values(informers).map((informer) => {
    informer.onChange(() => watch.changed());
    return informer.run(ending.signal);
  });
  running.push(objects.run(ending.signal));
  const kept: KeptReport[] = [];
  const reports: ReportSink = {
    report(cluster, place, state) {
      kept.push({ cluster: cluster.name, place, state });
      watch.changed();
      return Promise.resolve();
    },
    async withdrawn(cluster, { name }) {
      await rest.patch(
        bundleDeployments,
        { namespace: cluster.deploymentsNamespace, name },
        { type: "merge", body: { metadata: { finalizers: null } } },
      );
    },
  };
  const events = createEventRecorder({ rest, controller: "test/hub", instance: "hub-0", log });
  const wire = await createWire(
    {
      rest,
      namespace: "flotilla-system",
      ...informers,
      objects,
      contents: { read: (id) => Promise.resolve(content(id)) },
      reports,
      events,
      metrics: new Registry(),
      clock,
      log,
    },
    { replica: "hub-0", version: "test", servingNames: ["127.0.0.1"], ...wireOptions },
  );
  const bound = await wire.listen("127.0.0.1", port);
  await Promise.all(Object.values(informers).map((informer) => informer.synced));
  running.push(wire.runPresence(ending.signal));
  running.push(wire.runTokens(`127.0.0.1:${bound}`, ending.signal));
  let isStopped = false;

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await wire.close(1_000);
    ending.abort();
    await Promise.all(running);
    await events.flush();
  }
  after(stop);
  return { wire, port: bound, log: logged, ...informers, kept, stop, ...watch };
}

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
  options: { readonly clock?: Clock } = {},
): TestAgent {
  const { clock = systemClock } = options;
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
  after(stop);
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

/** Makes a registration token and gives what its Secret holds, as somebody copies it. */
export async function makeToken(
  rest: KubeRest,
  hub: TestHub,
  name: string,
  ttl?: string,
): Promise<Readonly<Record<string, string>>> {
  await rest.create(clusterRegistrationTokens, {
    apiVersion,
    kind: "ClusterRegistrationToken",
    metadata: { name, namespace: workspace },
    spec: ttl === undefined ? {} : { ttl },
  });
  const key = `${workspace}/${name}`;
  await hub.until(() => hub.tokens.store.get(key)?.status?.secretName !== undefined, "the token");
  const secret = await rest.get(secrets, { namespace: workspace, name });
  return secret?.data ?? {};
}

/** Puts the content of a token's Secret into an agent's namespace, with what else the agent is to say. */
export async function bootstrap(
  rest: KubeRest,
  namespace: string,
  token: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Promise<void> {
  await createNamespace(rest, namespace);
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "flotilla-bootstrap", namespace },
    data: { ...token, ...encoded(more) },
  };
  await rest.create(secrets, secret);
}

export function encoded(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}

/** Enrols and connects one agent under a name. */
export async function startEnrolled(
  rest: KubeRest,
  hub: TestHub,
  token: Readonly<Record<string, string>>,
  name: string,
): Promise<TestAgent> {
  const namespace = `agent-${name}`;
  await bootstrap(rest, namespace, token, { clusterName: name, clientID: `client-${name}` });
  const agent = startAgent(rest, namespace);
  await connected(hub, name);
  await createNamespace(rest, clusterNamespaceName(workspace, name));
  return agent;
}

export function clusterOf(hub: TestHub, name: string): Cluster | undefined {
  return hub.clusters.store.get(`${workspace}/${name}`);
}

export async function connected(hub: TestHub, name: string): Promise<void> {
  await hub.until(
    () => clusterOf(hub, name)?.status?.agent?.connected === true,
    `${name} connects`,
  );
}

export function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Creates, changes or deletes the BundleDeployment `name` of a cluster. */
export function deploymentsOf(rest: KubeRest, cluster: string) {
  const namespace = clusterNamespaceName(workspace, cluster);
  return {
    async create(
      name: string,
      deploymentId: string,
      labels: Readonly<Record<string, string>> = {},
      supplies: readonly string[] = [],
    ): Promise<BundleDeployment> {
      return rest.create(bundleDeployments, {
        apiVersion,
        kind: "BundleDeployment",
        metadata: {
          name,
          namespace,
          labels: { [clusterLabel]: cluster, [clusterNamespaceLabel]: workspace, ...labels },
          finalizers: [deploymentFinalizer],
        },
        spec: {
          deploymentID: deploymentId,
          stagedDeploymentID: deploymentId,
          ...(supplies.length > 0 && { supplies: [...supplies] }),
        },
      });
    },
    async change(name: string, spec: Partial<BundleDeployment["spec"]>): Promise<void> {
      await rest.patch(bundleDeployments, { namespace, name }, { type: "merge", body: { spec } });
    },
    /** It is gone all at once, as from a hub that was restored from a backup without it. */
    async lose(name: string): Promise<void> {
      const body = { metadata: { finalizers: null } };
      await rest.patch(bundleDeployments, { namespace, name }, { type: "merge", body });
      await rest.delete(bundleDeployments, { namespace, name });
    },
    async delete(name: string): Promise<void> {
      await rest.delete(bundleDeployments, { namespace, name });
    },
    key: (name: string) => keyOf({ namespace, name }),
  };
}

export function deployedState(deployment: DeploymentKey, message = ""): DeploymentState {
  return {
    ...deployment,
    deploymentId: digest("1"),
    phase: "deployed",
    message,
    ready: true,
    notReady: [],
    resources: [],
    incomplete: false,
    counts: { desiredReady: 1, ready: 1, notReady: 0, missing: 0, unknown: 0 },
  };
}
