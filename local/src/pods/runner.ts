/**
 * Runs the pods of one cluster that are scheduled to the node of this machine: the hub and the agents, with the command,
 * environment, volumes and service account that their charts give them. kwok plays all other pods.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { apiClient, parseKubeconfig } from "../control-plane/index.ts";
import { serviceHosts } from "./hosts.ts";
import { createLoadBalancer, isServed, loopback } from "./load-balancer.ts";
import { startLogsServer } from "./logs-server.ts";
import { isForThisMachine, nodeName, registerNode } from "./node.ts";
import { createNodePods, type NodePodsOptions } from "./node-pods.ts";
import { pods, type Service, services } from "./resources.ts";

export interface PodRunnerOptions extends NodePodsOptions {
  /** The kubeconfig of an administrator: the runner is the kubelet of the cluster. */
  readonly kubeconfig: string;
}

export interface PodRunner {
  /** Ends all pods, by SIGKILL after the grace period. */
  stop(graceMs?: number): Promise<void>;
}

/** Contents of Secrets and ConfigMaps become visible as in a kubelet. */
const refreshMs = 30_000;

/** Resolves when the node is registered and pods can be scheduled to it. */
export async function startPodRunner(options: PodRunnerOptions): Promise<PodRunner> {
  const { log, dir } = options;
  const stopped = new AbortController();
  const rest = connectKube(await loadKubeconfig({ path: options.kubeconfig }));
  const { server, ca, client } = parseKubeconfig(await readFile(options.kubeconfig, "utf8"));
  const api = apiClient(server, { ca, client });
  const podInformer = createInformer({
    rest,
    resource: pods,
    log,
    fieldSelector: `spec.nodeName=${nodeName}`,
  });
  const serviceInformer = createInformer({ rest, resource: services, log });
  const nodePods = createNodePods({
    ...options,
    rest,
    api,
    server,
    hosts: () => serviceHosts(serviceInformer.store.list(), nodePods.endpoints()),
    latest: ({ metadata }) => podInformer.store.get(keyOf(metadata)),
  });
  const balancer = createLoadBalancer(
    () => ({ services: serviceInformer.store.list(), endpoints: nodePods.endpoints() }),
    log,
  );
  const logs = await startLogsServer({
    dir: join(dir, "server"),
    ca,
    fileOf: (namespace, name) => nodePods.logFileOf(namespace, name),
  });
  podInformer.onChange(({ before, after }) => {
    if (after === undefined) nodePods.removed(before?.metadata.uid ?? "");
    else if (isForThisMachine(after)) nodePods.sync(after);
  });
  serviceInformer.onChange(({ after }) => {
    balancer.serve(serviceInformer.store.list());
    if (after !== undefined) void publishAddress(rest, after, log);
  });

  await registerNode(rest, Date.now(), logs.port);
  const timer = setInterval(() => void nodePods.refresh(), refreshMs);
  const running = [podInformer.run(stopped.signal), serviceInformer.run(stopped.signal)];
  await Promise.all([podInformer.synced, serviceInformer.synced]);

  return {
    async stop(graceMs = 5_000) {
      clearInterval(timer);
      stopped.abort();
      await nodePods.stop(graceMs);
      balancer.close();
      logs.close();
      await Promise.all(running);
      await Promise.all([rest.close(), api.close()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function publishAddress(rest: KubeRest, service: Service, log: Log): Promise<void> {
  if (!isServed(service) || service.status?.loadBalancer?.ingress !== undefined) return;
  const body = { status: { loadBalancer: { ingress: [{ ip: loopback }] } } };
  try {
    await rest.patch(
      services,
      service.metadata,
      { type: "merge", body },
      { subresource: "status" },
    );
  } catch (thrown) {
    const name = keyOf(service.metadata);
    log.warn({ err: messageOf(thrown) }, `cannot write the address of Service ${name}`);
  }
}
