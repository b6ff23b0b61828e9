/** One pod of the runner: starts its container, probes it, starts it again after it has ended, and ends it. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { delay, systemClock } from "@flotilla/shared/time";
import { type RunningProcess, startProcess, type Watchers, watchersOf } from "../process/index.ts";
import { ContainerConfigError, commandOf, type Sources } from "./container.ts";
import { formatHosts } from "./hosts.ts";
import { findImage, type LocalImage, type LocalImages } from "./image.ts";
import { enter, type Isolation, type Mount } from "./isolation.ts";
import type { ContainerState, PodState } from "./pod-status.ts";
import { type Probe, probe } from "./probe.ts";
import type { Container, Pod } from "./resources.ts";
import { type TokenRequest, writeVolumes } from "./volumes.ts";

export interface PodDeps extends Watchers {
  /** Of the cluster, for the names of processes. */
  readonly cluster: string;
  readonly images: LocalImages;
  readonly isolation: Isolation;
  /** `https://host:port` of the API server. */
  readonly server: string;
  /** Of this pod: volumes, the hosts file. */
  readonly dir: string;
  readonly logFile: string;
  readonly hosts: () => ReadonlyMap<string, string>;
  readonly sources: () => Promise<Sources>;
  readonly token: (request: TokenRequest) => Promise<string>;
  /** Called after each change of the state. */
  readonly onChange: () => void;
  readonly log: Log;
}

export interface RunningPod {
  readonly state: () => PodState;
  /** Writes the hosts file again. */
  refreshHosts(): Promise<void>;
  /** Writes the volumes again. */
  refreshVolumes(): Promise<void>;
  /** SIGTERM, and SIGKILL after the grace period. Resolves when the container has ended. */
  stop(graceMs: number): Promise<void>;
}

type Ended = Extract<ContainerState, { kind: "ended" }>;

const firstBackoffMs = 500;
const longestBackoffMs = 30_000;
/** A container that ran for this long starts again without delay. */
const stableMs = 60_000;

export function startPod(pod: Pod, ip: string, deps: PodDeps): RunningPod {
  const ending = new AbortController();
  const [container] = pod.spec?.containers ?? [];
  let state: PodState = {
    container: { kind: "waiting", reason: "ContainerCreating" },
    restarts: 0,
    ip,
    startedMs: Date.now(),
  };
  let current: RunningProcess | undefined;

  function change(next: Partial<PodState>): void {
    state = { ...state, ...next };
    deps.onChange();
  }

  async function run(): Promise<void> {
    if (container === undefined || pod.spec?.containers.length !== 1 || pod.spec.initContainers)
      return wait("CreateContainerConfigError", "the runner starts pods of one container only");
    const image = findImage(deps.images, container.image ?? "");
    if (image === undefined)
      return wait("ErrImagePull", `the runner has no image ${container.image}`);
    for (let failures = 0; !ending.signal.aborted; ) {
      const ended = await runContainer(container, image);
      if (ended === undefined || ending.signal.aborted) {
        failures += 1;
      } else {
        const { restartPolicy = "Always" } = pod.spec ?? {};
        if (restartPolicy === "Never" || (restartPolicy === "OnFailure" && ended.exitCode === 0)) {
          change({ container: ended, phase: ended.exitCode === 0 ? "Succeeded" : "Failed" });
          return;
        }
        failures = ended.untilMs - ended.sinceMs > stableMs ? 0 : failures + 1;
        change({
          container: {
            kind: "waiting",
            reason: "CrashLoopBackOff",
            message: `restarting container ${container.name}, which ended with ${ended.exitCode}`,
          },
          before: ended,
          restarts: state.restarts + 1,
        });
      }
      const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures - 1));
      if (failures > 0) await delay(systemClock, backoffMs, ending.signal).catch(() => undefined);
    }
  }

  function wait(reason: string, message: string): void {
    change({ container: { kind: "waiting", reason, message } });
  }

  /** Undefined: it could not be started. */
  async function runContainer(spec: Container, image: LocalImage): Promise<Ended | undefined> {
    const sinceMs = Date.now();
    try {
      current = await start(pod, ip, spec, image, deps);
    } catch (thrown) {
      const reason =
        thrown instanceof ContainerConfigError ? "CreateContainerConfigError" : "RunContainerError";
      wait(reason, messageOf(thrown));
      return undefined;
    }
    const probing = new AbortController();
    const running = current;
    change({ container: { kind: "running", sinceMs, isReady: false, isStarted: false } });
    const probed = probeContainer(spec, running, sinceMs, probing.signal);
    if (ending.signal.aborted) void running.stop();
    const { code, signal } = await running.exited;
    probing.abort();
    await probed;
    current = undefined;
    const exitCode = code ?? (signal === "SIGKILL" ? 137 : 143);
    const reason = exitCode === 0 ? "Completed" : "Error";
    return { kind: "ended", exitCode, sinceMs, untilMs: Date.now(), reason };
  }

  /** Startup, then readiness and liveness, until `signal` aborts. */
  async function probeContainer(
    spec: Container,
    running: RunningProcess,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const target = { podIp: ip, container: spec };
    const report = (isStarted: boolean, isReady: boolean): void => {
      const { container: now } = state;
      if (now.kind !== "running" || signal.aborted) return;
      if (now.isStarted === isStarted && now.isReady === isReady) return;
      change({ container: { kind: "running", sinceMs, isReady, isStarted } });
    };
    const kill = (what: string, failure: string): void => {
      deps.log.warn({ pod: pod.metadata.name, err: failure }, `${what} probe failed, restarting`);
      void running.stop();
    };
    await repeat(spec.startupProbe, target, signal, {
      // Faster than the chart says: nobody waits on purpose.
      periodMs: 50,
      onFailure: (failure) => kill("startup", failure),
      until: "success",
    });
    report(true, spec.readinessProbe === undefined);
    await Promise.all([
      repeat(spec.readinessProbe, target, signal, {
        periodMs: 250,
        onResult: (failure) => report(true, failure === undefined),
      }),
      repeat(spec.livenessProbe, target, signal, {
        onFailure: (failure) => kill("liveness", failure),
      }),
    ]);
  }

  const whole = run().catch((thrown: unknown) => wait("RunContainerError", messageOf(thrown)));
  return {
    state: () => state,
    refreshHosts: () => writeHosts(pod, ip, deps),
    refreshVolumes: async () => writePodVolumes(pod, ip, await deps.sources(), deps),
    async stop(graceMs) {
      ending.abort();
      await current?.stop({ graceMs });
      await whole;
      await rm(deps.dir, { recursive: true, force: true });
    },
  };
}

interface Repeating {
  /** Default: that of the probe. */
  readonly periodMs?: number;
  readonly onResult?: (failure: string | undefined) => void;
  /** After as many failures in a row as the probe allows. */
  readonly onFailure?: (failure: string) => void;
  readonly until?: "success";
}

async function repeat(
  each: Probe | undefined,
  target: Parameters<typeof probe>[1],
  signal: AbortSignal,
  { periodMs, onResult, onFailure, until }: Repeating,
): Promise<void> {
  if (each === undefined) return;
  const slowMs = (each.periodSeconds ?? 10) * 1_000;
  const allowedMs = slowMs * (each.failureThreshold ?? 3);
  let failingSince: number | undefined;
  let isPassing = false;
  while (!signal.aborted) {
    const failure = await probe(each, target);
    if (signal.aborted) return;
    onResult?.(failure);
    isPassing = failure === undefined;
    if (isPassing && until === "success") return;
    failingSince = isPassing ? undefined : (failingSince ?? performance.now());
    if (failure !== undefined && performance.now() - (failingSince ?? 0) >= allowedMs) {
      onFailure?.(failure);
      if (onFailure !== undefined) return;
    }
    // What has become ready is probed as often as the chart says.
    const pauseMs = isPassing ? slowMs : Math.min(slowMs, periodMs ?? slowMs);
    await delay(systemClock, pauseMs, signal).catch(() => undefined);
  }
}

async function start(
  pod: Pod,
  ip: string,
  container: Container,
  image: LocalImage,
  deps: PodDeps,
): Promise<RunningProcess> {
  const server = new URL(deps.server);
  const scratch = join(deps.dir, "root");
  await mkdir(scratch, { recursive: true });
  const sources = await deps.sources();
  await writeHosts(pod, ip, deps);
  await writePodVolumes(pod, ip, sources, deps);
  const { argv, environment } = enter(
    {
      command: commandOf(container, {
        pod,
        podIp: ip,
        image,
        sources,
        apiServer: server.host,
      }),
      image,
      mounts: mountsOf(container, deps),
      scratch,
      isReadOnly: container.securityContext?.readOnlyRootFilesystem === true,
      kubeconfig: await writeKubeconfig(container, deps),
      hosts: deps.hosts(),
    },
    deps.isolation,
  );
  const [command = "", ...args] = argv;
  return startProcess({
    name: `pod ${pod.metadata.namespace}/${pod.metadata.name} of ${deps.cluster}`,
    command,
    args,
    // `unshare` is found by it before the program of the image is.
    env: { ...environment, PATH: `${environment["PATH"] ?? ""}:/usr/sbin:/usr/bin:/sbin:/bin` },
    logFile: deps.logFile,
    ...watchersOf(deps),
  });
}

function mountsOf(container: Container, { dir }: PodDeps): readonly Mount[] {
  return [
    ...(container.volumeMounts ?? []).map(({ name, mountPath, subPath }) => ({
      source: join(dir, "volumes", name, subPath ?? ""),
      target: mountPath,
    })),
    { source: join(dir, "hosts"), target: "/etc/hosts" },
    { source: "/etc/resolv.conf", target: "/etc/resolv.conf" },
  ];
}

/** Written in place: the file itself is mounted. */
async function writeHosts(pod: Pod, ip: string, { dir, hosts }: PodDeps): Promise<void> {
  await writeFile(join(dir, "hosts"), formatHosts({ name: pod.metadata.name, ip }, hosts()));
}

async function writePodVolumes(
  pod: Pod,
  ip: string,
  sources: Sources,
  deps: PodDeps,
): Promise<void> {
  const image = findImage(deps.images, pod.spec?.containers[0]?.image ?? "");
  const hasUser = image !== undefined && deps.isolation.kind === "mount namespace";
  await writeVolumes(join(deps.dir, "volumes"), {
    pod,
    podIp: ip,
    sources,
    token: deps.token,
    owner: hasUser ? { user: image.user, group: image.group } : undefined,
  });
}

/** For a plain process; undefined for a pod without a token. */
async function writeKubeconfig(container: Container, deps: PodDeps): Promise<string | undefined> {
  if (deps.isolation.kind === "mount namespace") return undefined;
  const mount = container.volumeMounts?.find(({ mountPath }) =>
    mountPath.endsWith("/serviceaccount"),
  );
  if (mount === undefined) return undefined;
  const account = join(deps.dir, "volumes", mount.name);
  const path = join(deps.dir, "kubeconfig");
  const name = "pod";
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: { server: deps.server, "certificate-authority": join(account, "ca.crt") },
      },
    ],
    users: [{ name, user: { tokenFile: join(account, "token") } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  await writeFile(path, JSON.stringify(kubeconfig), { mode: 0o600 });
  return path;
}
