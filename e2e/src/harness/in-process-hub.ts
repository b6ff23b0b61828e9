/** The hub's end of the wire in this process, over real TLS and a real API server; only what takes the reports is in memory. */

import {
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
} from "@flotilla/hub/agentserver";
import { runRotationController } from "@flotilla/hub/authority";
import type { ReportPosition, ReportSink } from "@flotilla/hub/dispatch";
import { runPresenceController } from "@flotilla/hub/presence";
import { createWorkspaceObjects, watchReferences } from "@flotilla/hub/referenced";
import { runTokenController } from "@flotilla/hub/registrationtoken";
import type { DeploymentState } from "@flotilla/proto";
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  clusters,
} from "@flotilla/shared/api";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { createEventRecorder, type EventRecorder } from "@flotilla/shared/kube/events";
import { type Clock, systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import { type TestLog, testLog, type Watched, watched } from "./change-signal.ts";
import { cleanUp } from "./cleanup.ts";

export interface KeptReport {
  readonly cluster: string;
  readonly place: ReportPosition;
  readonly state: DeploymentState;
}

export interface TestHub extends Watched {
  readonly server: AgentServer;
  readonly port: number;
  readonly log: TestLog;
  readonly clusters: Informer<Cluster>;
  readonly deployments: Informer<BundleDeployment>;
  readonly tokens: Informer<ClusterRegistrationToken>;
  readonly kept: readonly KeptReport[];
  readonly events: EventRecorder;
  /** How often something was refused for this reason. */
  refused(reason: string): Promise<number>;
  /** Rotates the authority as the leader does, until `signal` aborts. */
  rotate(signal: AbortSignal): Promise<void>;
  /** Ends it as a process that is stopped in good order. */
  stop(): Promise<void>;
}

export interface HubOptions extends Partial<AgentServerOptions> {
  readonly port?: number;
  readonly clock?: Clock;
  /** Whether it keeps the registration tokens, which one of several does; default: it does. */
  readonly leads?: boolean;
  /** The contents by deployment id; by default each is its own id in bytes. */
  readonly content?: (deploymentId: string) => Uint8Array;
  /** What its watch of Clusters is made with; by default what everything else is. */
  readonly clusterWatch?: KubeRest;
}

export async function startHub(rest: KubeRest, options: HubOptions = {}): Promise<TestHub> {
  const { port = 0, clock = systemClock, content = Buffer.from, leads = true, ...others } = options;
  const { clusterWatch = rest, ...serverOptions } = others;
  const logged = testLog();
  const { log } = logged;
  const watch = watched(() => logged.lines);
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
  };
  const objects = createWorkspaceObjects({ rest, clock, log });
  watchReferences(informers.deployments, objects);
  const running = Object.values(informers).map((informer) => {
    informer.onChange(() => watch.changed());
    return informer.run(ending.signal);
  });
  running.push(objects.run(ending.signal));
  const metrics = new Registry();
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
  const instance = serverOptions.replica ?? "hub-0";
  const events = createEventRecorder({ rest, controller: "test/hub", instance, log });
  const server = await createAgentServer(
    {
      rest,
      namespace: "flotilla-system",
      ...informers,
      objects,
      contents: { read: (id) => Promise.resolve(content(id)) },
      reports,
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
  function rotate(signal: AbortSignal): Promise<void> {
    const { certificateLifetimeMs: lifetimeMs } = server;
    return runRotationController({ ...parts, lifetimeMs }, signal);
  }
  async function refused(reason: string): Promise<number> {
    const metric = await metrics.getSingleMetric("flotilla_hub_rejected_total")?.get();
    return metric?.values.find(({ labels }) => labels["reason"] === reason)?.value ?? 0;
  }
  return {
    server,
    rotate,
    port: bound,
    log: logged,
    ...informers,
    kept,
    events,
    refused,
    stop,
    ...watch,
  };
}
