/**
 * Runs the pods of one cluster that are scheduled to the node of this machine: the hub and the agents, with the command,
 * environment, volumes and service account that their charts give them. kwok plays all other pods.
 */
import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import { connectKube, isNotFound, loadKubeconfig } from "@flotilla/shared/kube/client";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { apiClient, parseKubeconfig } from "../control-plane/index.ts";
import type { Watchers } from "../process/index.ts";
import { type Endpoint, serviceHosts } from "./hosts.ts";
import type { LocalImages } from "./image.ts";
import type { Isolation } from "./isolation.ts";
import { createLoadBalancer, isServed, loopback } from "./load-balancer.ts";
import { startLogsServer } from "./logs-server.ts";
import { nodeName, registerNode, renewNodeLease } from "./node.ts";
import { podTokens, readSources } from "./pod-inputs.ts";
import { statusOf } from "./pod-status.ts";
import { type Pod, pods, type Service, services } from "./resources.ts";
import { type RunningPod, startPod } from "./running-pod.ts";

export interface PodRunnerOptions extends Watchers {
  readonly cluster: string;
  /** Of an administrator: the runner is the kubelet of the cluster. */
  readonly kubeconfig: string;
  readonly images: LocalImages;
  readonly isolation: Isolation;
  /** For the volumes of its pods. */
  readonly dir: string;
  /** For the logs of its pods. */
  readonly logDir: string;
  readonly log: Log;
}

export interface PodRunner {
  /** Ends all pods, without a grace period for those that do not end by SIGTERM within it. */
  stop(graceMs?: number): Promise<void>;
}

interface Slot {
  readonly pod: Pod;
  readonly running: RunningPod;
  readonly ip: string;
  readonly logFile: string;
  isEnding: boolean;
}

const leaseMs = 10_000;
/** Tokens are valid for about an hour; contents of Secrets and ConfigMaps become visible as in a kubelet. */
const refreshMs = 30_000;

/** Resolves when the node is registered and pods can be scheduled to it. */
export async function startPodRunner(options: PodRunnerOptions): Promise<PodRunner> {
  const { log, dir, logDir } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const rest = connectKube(await loadKubeconfig({ path: options.kubeconfig }));
  const entry = parseKubeconfig(await readFile(options.kubeconfig, "utf8"));
  const api = apiClient(entry.server, { ca: entry.ca, client: entry.client });
  const slots = new Map<string, Slot>();
  const informer = <T extends KubeObject>(
    resource: Resource<T>,
    fieldSelector?: string,
  ): Informer<T> =>
    createInformer({ rest, resource, log, ...(fieldSelector !== undefined && { fieldSelector }) });
  const podInformer = informer(pods, `spec.nodeName=${nodeName}`);
  const serviceInformer = informer(services);
  const endpoints = (): readonly Endpoint[] =>
    [...slots.values()].flatMap(({ pod, running, ip, isEnding }) => {
      const [container] = pod.spec?.containers ?? [];
      const { container: state } = running.state();
      if (container === undefined || state.kind !== "running") return [];
      return {
        namespace: pod.metadata.namespace ?? "",
        labels: pod.metadata.labels ?? {},
        container,
        ip,
        isReady: state.isReady && !isEnding,
      };
    });
  const hosts = () => serviceHosts(serviceInformer.store.list(), endpoints());
  const balancer = createLoadBalancer(
    () => ({ services: serviceInformer.store.list(), endpoints: endpoints() }),
    log,
  );
  const logs = await startLogsServer({
    dir: join(dir, "server"),
    ca: entry.ca,
    fileOf: (namespace, name) =>
      [...slots.values()].find(
        ({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name,
      )?.logFile,
  });

  function start(pod: Pod): void {
    const { uid = "", name, namespace = "" } = pod.metadata;
    const ip = freeAddress();
    const logFile = join(logDir, `${namespace}_${name}.log`);
    // Of an earlier pod of this name.
    rmSync(logFile, { force: true });
    const running = startPod(pod, ip, {
      ...options,
      server: entry.server,
      dir: join(dir, uid),
      logFile,
      hosts,
      sources: () => readSources(rest, pod),
      token: podTokens(api, pod),
      onChange: () => queueMicrotask(() => void publish(uid)),
      log,
    });
    slots.set(uid, { pod, running, ip, logFile, isEnding: false });
    log.info({ pod: keyOf(pod.metadata), ip }, "starting pod");
    void publish(uid);
  }

  async function publish(uid: string): Promise<void> {
    const slot = slots.get(uid);
    if (slot === undefined) return;
    void refresh("refreshHosts");
    const known = podInformer.store.get(keyOf(slot.pod.metadata)) ?? slot.pod;
    const status = statusOf(known, slot.running.state(), Date.now());
    await write(`status of pod ${keyOf(slot.pod.metadata)}`, () =>
      rest.patch(
        pods,
        slot.pod.metadata,
        { type: "merge", body: { status } },
        { subresource: "status" },
      ),
    );
  }

  async function refresh(what: "refreshHosts" | "refreshVolumes"): Promise<void> {
    for (const { pod, running } of slots.values())
      if (running.state().container.kind === "running")
        await write(`files of pod ${keyOf(pod.metadata)}`, () => running[what]());
  }

  async function end(uid: string, graceMs: number): Promise<void> {
    const slot = slots.get(uid);
    if (slot === undefined || slot.isEnding) return;
    slot.isEnding = true;
    await slot.running.stop(graceMs);
    slots.delete(uid);
    await write(`deletion of pod ${keyOf(slot.pod.metadata)}`, async () => {
      const { namespace, name } = slot.pod.metadata;
      await api.call("DELETE", `/api/v1/namespaces/${namespace}/pods/${name}`, {
        gracePeriodSeconds: 0,
        preconditions: { uid },
      });
    });
    log.info({ pod: keyOf(slot.pod.metadata) }, "pod ended");
  }

  async function write(what: string, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (thrown) {
      if (!isNotFound(thrown) && !signal.aborted)
        log.warn({ err: messageOf(thrown) }, `cannot write the ${what}`);
    }
  }

  podInformer.onChange(({ before, after }) => {
    const uid = (after ?? before)?.metadata.uid ?? "";
    if (after === undefined) void end(uid, 0);
    else if (after.metadata.deletionTimestamp !== undefined)
      void end(uid, (after.metadata.deletionGracePeriodSeconds ?? 30) * 1_000);
    else if (!slots.has(uid) && !isFinished(after)) start(after);
  });
  serviceInformer.onChange(({ after }) => {
    balancer.serve(serviceInformer.store.list());
    if (after !== undefined) void publishAddress(after);
  });

  async function publishAddress(service: Service): Promise<void> {
    if (!isServed(service) || service.status?.loadBalancer?.ingress !== undefined) return;
    const body = { status: { loadBalancer: { ingress: [{ ip: loopback }] } } };
    await write(`address of Service ${keyOf(service.metadata)}`, () =>
      rest.patch(services, service.metadata, { type: "merge", body }, { subresource: "status" }),
    );
  }

  await registerNode(rest, Date.now(), logs.port);
  const renew = (): void => void write("Lease of the node", () => renewNodeLease(rest, Date.now()));
  renew();
  const timers = [
    setInterval(renew, leaseMs),
    setInterval(() => void refresh("refreshVolumes"), refreshMs),
  ];
  const running = [podInformer.run(signal), serviceInformer.run(signal)];
  await Promise.all([podInformer.synced, serviceInformer.synced]);

  return {
    async stop(graceMs = 5_000) {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      await Promise.all([...slots.values()].map(({ running: each }) => each.stop(graceMs)));
      balancer.close();
      logs.close();
      await Promise.all(running);
      await Promise.all([rest.close(), api.close()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** An address of this machine that no other pod has: all of 127.0.0.0/8 is loopback on Linux. */
function freeAddress(): string {
  if (process.platform !== "linux") return loopback;
  return `127.${randomInt(64, 128)}.${randomInt(256)}.${randomInt(1, 255)}`;
}
