/** The pods that run on the node of this machine. */
import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import { isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { ApiClient } from "../control-plane/index.ts";
import type { Watchers } from "../process/index.ts";
import type { Endpoint } from "./hosts.ts";
import type { LocalImages } from "./image.ts";
import type { Isolation } from "./isolation.ts";
import { podTokens, readSources } from "./pod-inputs.ts";
import { statusOf } from "./pod-status.ts";
import { type Pod, pods } from "./resources.ts";
import { type RunningPod, startPod } from "./running-pod.ts";

export interface NodePodsOptions extends Watchers {
  readonly cluster: string;
  readonly images: LocalImages;
  readonly isolation: Isolation;
  /** For the volumes of its pods. */
  readonly dir: string;
  /** For the logs of its pods. */
  readonly logDir: string;
  readonly log: Log;
}

export interface NodePodsDeps extends NodePodsOptions {
  readonly rest: KubeRest;
  readonly api: ApiClient;
  /** `https://host:port` of the API server. */
  readonly server: string;
  /** Names of Services. */
  readonly hosts: () => ReadonlyMap<string, string>;
  /** The pod as it was last seen. */
  readonly latest: (pod: Pod) => Pod | undefined;
}

export interface NodePods {
  /** Starts it, unless it runs or has ended; ends it, if it is being deleted. */
  sync(pod: Pod): void;
  /** It is gone without having been ended here. */
  removed(uid: string): void;
  endpoints(): readonly Endpoint[];
  /** The log file of a pod; undefined if it does not run here. */
  logFileOf(namespace: string, name: string): string | undefined;
  /** Writes volumes and statuses again: tokens expire, and an earlier write may have failed. */
  refresh(): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

interface Slot {
  readonly pod: Pod;
  readonly running: RunningPod;
  readonly ip: string;
  readonly logFile: string;
  isEnding: boolean;
  /** The write of its status; a change during one is written after it, so that the last one stays. */
  publishing?: Promise<void>;
  isChanged: boolean;
}

export function createNodePods(deps: NodePodsDeps): NodePods {
  const { rest, api, log } = deps;
  const slots = new Map<string, Slot>();
  let isStopped = false;

  function start(pod: Pod): void {
    const { uid = "", name, namespace = "" } = pod.metadata;
    const ip = freeAddress();
    const logFile = join(deps.logDir, `${namespace}_${name}.log`);
    // An earlier pod of this name has left it.
    rmSync(logFile, { force: true });
    const running = startPod(pod, ip, {
      ...deps,
      dir: join(deps.dir, uid),
      logFile,
      sources: () => readSources(rest, pod),
      token: podTokens(api, pod),
      onChange: () => queueMicrotask(() => changed(uid)),
    });
    slots.set(uid, { pod, running, ip, logFile, isEnding: false, isChanged: false });
    log.info({ pod: keyOf(pod.metadata), ip }, "starting pod");
    changed(uid);
  }

  /** The state of a pod decides its status, and the addresses of Services. */
  function changed(uid: string): void {
    for (const { pod, running } of slots.values())
      if (running.state().container.kind === "running")
        void attempt(`hosts file of pod ${keyOf(pod.metadata)}`, () => running.refreshHosts());
    const slot = slots.get(uid);
    if (slot === undefined) return;
    slot.isChanged = true;
    slot.publishing ??= publish(slot).finally(() => delete slot.publishing);
  }

  async function publish(slot: Slot): Promise<void> {
    while (slot.isChanged && !isStopped) {
      slot.isChanged = false;
      const { pod, running } = slot;
      const body = { status: statusOf(deps.latest(pod) ?? pod, running.state(), Date.now()) };
      await attempt(`status of pod ${keyOf(pod.metadata)}`, () =>
        rest.patch(pods, pod.metadata, { type: "merge", body }, { subresource: "status" }),
      );
    }
  }

  async function end(uid: string, graceMs: number): Promise<void> {
    const slot = slots.get(uid);
    if (slot === undefined || slot.isEnding) return;
    slot.isEnding = true;
    await slot.running.stop(graceMs);
    slots.delete(uid);
    const { namespace, name } = slot.pod.metadata;
    await attempt(`deletion of pod ${namespace}/${name}`, () =>
      api.call("DELETE", `/api/v1/namespaces/${namespace}/pods/${name}`, {
        gracePeriodSeconds: 0,
        preconditions: { uid },
      }),
    );
    log.info({ pod: keyOf(slot.pod.metadata) }, "pod ended");
  }

  async function attempt(what: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (thrown) {
      if (!isNotFound(thrown) && !isStopped)
        log.warn({ err: messageOf(thrown) }, `cannot write the ${what}`);
    }
  }

  return {
    sync(pod) {
      const { uid = "", deletionTimestamp, deletionGracePeriodSeconds = 30 } = pod.metadata;
      if (deletionTimestamp !== undefined) void end(uid, deletionGracePeriodSeconds * 1_000);
      else if (!slots.has(uid) && !isFinished(pod)) start(pod);
    },
    removed: (uid) => void end(uid, 0),
    endpoints: () => [...slots.values()].flatMap(endpointOf),
    logFileOf: (namespace, name) =>
      [...slots.values()].find(
        ({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name,
      )?.logFile,
    async refresh() {
      for (const [uid, { pod, running }] of slots) {
        if (running.state().container.kind === "running")
          await attempt(`volumes of pod ${keyOf(pod.metadata)}`, () => running.refreshVolumes());
        changed(uid);
      }
    },
    async stop(graceMs) {
      isStopped = true;
      await Promise.all([...slots.values()].map(({ running }) => running.stop(graceMs)));
    },
  };
}

function endpointOf({ pod, running, ip, isEnding }: Slot): readonly Endpoint[] {
  const [container] = pod.spec?.containers ?? [];
  const { container: state } = running.state();
  if (container === undefined || state.kind !== "running") return [];
  const { namespace = "", labels = {} } = pod.metadata;
  return [{ namespace, labels, container, ip, isReady: state.isReady && !isEnding }];
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** An address of this machine that no other pod has: all of 127.0.0.0/8 is loopback on Linux. */
function freeAddress(): string {
  if (process.platform !== "linux") return "127.0.0.1";
  return `127.${randomInt(64, 128)}.${randomInt(256)}.${randomInt(1, 255)}`;
}
