/** The hub's end of the wire in this process, over real TLS and a real API server. Reports are kept in memory. */
import {
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  type ReportPosition,
  type ReportSink,
  runPresenceController,
  runRotationController,
  runTokenController,
} from "@flotilla/hub/link";
import { WorkspaceObjects, watchReferences } from "@flotilla/hub/rules";
import type { DeploymentState } from "@flotilla/proto";
import {
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  clusters,
  helmOps,
} from "@flotilla/shared/api";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { createEventRecorder, type EventRecorder } from "@flotilla/shared/kube/events";
import { type Clock, systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import { type ChangeSignal, createChangeSignal, type TestLog, testLog } from "./change-signal.ts";
import { cleanUp } from "./cleanup.ts";

export interface ReceivedReport {
  readonly cluster: string;
  readonly position: ReportPosition;
  readonly state: DeploymentState;
}

export interface InProcessHub extends ChangeSignal {
  readonly server: AgentServer;
  readonly port: number;
  readonly log: TestLog;
  readonly clusters: Informer<Cluster>;
  readonly deployments: Informer<BundleDeployment>;
  readonly tokens: Informer<ClusterRegistrationToken>;
  readonly reports: readonly ReceivedReport[];
  readonly events: EventRecorder;
  /** How often a call was rejected for this reason. */
  rejections(reason: string): Promise<number>;
  /** Rotates the authority as the leader does, until `signal` aborts. */
  rotateAuthority(signal: AbortSignal): Promise<void>;
  /** Ends it as a process that is shut down gracefully. */
  stop(): Promise<void>;
}

export interface HubOptions extends Partial<AgentServerOptions> {
  readonly port?: number;
  readonly clock?: Clock;
  /** Whether it runs the controller of registration tokens, as the leader of several does; default: true. */
  readonly leads?: boolean;
  /** The contents by deployment id; by default each is its own id in bytes. */
  readonly content?: (deploymentId: string) => Uint8Array;
  /** The client of its watch of Clusters; default: that of everything else. */
  readonly clusterWatch?: KubeRest;
}

export async function startInProcessHub(
  rest: KubeRest,
  options: HubOptions = {},
): Promise<InProcessHub> {
  const { port = 0, clock = systemClock, content = Buffer.from, leads = true, ...others } = options;
  const { clusterWatch = rest, ...serverOptions } = others;
  const logged = testLog();
  const { log } = logged;
  const watch = createChangeSignal(() => logged.lines);
  const ending = new AbortController();
  const informers = {
    clusters: createInformer({
      rest: clusterWatch,
      resource: clusters,
      log,
    }),
    deployments: createInformer({
      rest,
      resource: bundleDeployments,
      log,
    }),
    tokens: createInformer({
      rest,
      resource: clusterRegistrationTokens,
      log,
    }),
    helmOps: createInformer({ rest, resource: helmOps, log }),
    bundles: createInformer({ rest, resource: bundles, log }),
  };
  const objects = new WorkspaceObjects({ rest, clock, log });
  const trust = { isTrusted: () => true, isSigned: () => true, planKeyOf: () => undefined };
  watchReferences(informers, objects, trust);
  const running = Object.values(informers).map((informer) => {
    informer.onChange(() => watch.changed());
    return informer.run(ending.signal);
  });
  running.push(objects.run(ending.signal));
  const metrics = new Registry();
  const received: ReceivedReport[] = [];
  const sink: ReportSink = {
    report(cluster, position, state) {
      received.push({ cluster: cluster.name, position, state });
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
  const instance = serverOptions.replica ?? "hub-0";
  const events = createEventRecorder({ rest, controller: "test/hub", instance, log });
  const server = await createAgentServer(
    {
      rest,
      namespace: "flotilla-system",
      ...informers,
      objects,
      contents: { read: (id) => Promise.resolve(content(id)) },
      trust,
      reports: sink,
      events,
      metrics,
      clock,
      log,
    },
    { replica: "hub-0", version: "test", servingNames: ["127.0.0.1"], ...serverOptions },
  );
  const bound = await server.listen("127.0.0.1", port);
  await Promise.all(Object.values(informers).map((informer) => informer.synced));
  const { authority, presence } = server;
  const parts = { rest, ...informers, authority, events, clock, log, metrics };
  running.push(runPresenceController({ ...parts, presence }, ending.signal));
  const address = `127.0.0.1:${bound}`;
  if (leads) running.push(runTokenController({ ...parts, address }, ending.signal));
  let isStopped = false;

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await server.close(1_000);
    ending.abort();
    await Promise.all(running);
    await events.flush();
  }
  cleanUp(stop);
  function rotateAuthority(signal: AbortSignal): Promise<void> {
    const { certificateLifetimeMs: lifetimeMs } = server;
    return runRotationController({ ...parts, lifetimeMs }, signal);
  }
  async function rejections(reason: string): Promise<number> {
    const metric = await metrics.getSingleMetric("flotilla_hub_rejected_total")?.get();
    return metric?.values.find(({ labels }) => labels["reason"] === reason)?.value ?? 0;
  }
  return {
    server,
    rotateAuthority,
    port: bound,
    log: logged,
    ...informers,
    reports: received,
    events,
    rejections,
    stop,
    ...watch,
  };
}
