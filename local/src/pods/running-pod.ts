/** One pod of the runner: starts its container, probes it, starts it again after it has ended, and ends it. */
import { rm } from "node:fs/promises";
import { messageOf } from "@flotilla/shared/errors";
import { delay, systemClock } from "@flotilla/shared/time";
import type { RunningProcess } from "../process/index.ts";
import { ContainerConfigError } from "./container.ts";
import { findImage, type LocalImage } from "./image.ts";
import {
  type ContainerDeps,
  startContainer,
  writeHosts,
  writePodVolumes,
} from "./pod-container.ts";
import type { ContainerState, PodState } from "./pod-status.ts";
import { probeContainer } from "./probe.ts";
import type { Container, Pod } from "./resources.ts";

export interface PodDeps extends ContainerDeps {
  /** Called after each change of the state. */
  readonly onChange: () => void;
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
  const { name } = pod.metadata;
  const [container] = pod.spec?.containers ?? [];
  const isEnding = (): boolean => ending.signal.aborted;
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
    for (let failures = 0; !isEnding(); ) {
      const ended = await runContainer(container, image);
      if (ended === undefined || isEnding()) {
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
      current = await startContainer({ pod, ip }, spec, image, deps);
    } catch (thrown) {
      const reason =
        thrown instanceof ContainerConfigError ? "CreateContainerConfigError" : "RunContainerError";
      wait(reason, messageOf(thrown));
      return undefined;
    }
    const probing = new AbortController();
    const running = current;
    change({ container: { kind: "running", sinceMs, isReady: false, isStarted: false } });
    const probed = probeContainer(
      { podIp: ip, container: spec },
      {
        report(isStarted, isReady) {
          const { container: now } = state;
          if (now.kind !== "running" || probing.signal.aborted) return;
          if (now.isStarted === isStarted && now.isReady === isReady) return;
          change({ container: { kind: "running", sinceMs, isReady, isStarted } });
        },
        failed(what, failure) {
          deps.log.warn({ pod: name, err: failure }, `${what} probe failed, restarting`);
          void running.stop();
        },
      },
      probing.signal,
    );
    if (isEnding()) void running.stop();
    const { code, signal } = await running.exited;
    probing.abort();
    await probed;
    current = undefined;
    const exitCode = code ?? (signal === "SIGKILL" ? 137 : 143);
    const reason = exitCode === 0 ? "Completed" : "Error";
    return { kind: "ended", exitCode, sinceMs, untilMs: Date.now(), reason };
  }

  const whole = run().catch((thrown: unknown) => wait("RunContainerError", messageOf(thrown)));
  return {
    state: () => state,
    refreshHosts: () => writeHosts({ pod, ip }, deps),
    refreshVolumes: async () => writePodVolumes({ pod, ip }, await deps.sources(), deps),
    async stop(graceMs) {
      ending.abort();
      await current?.stop({ graceMs });
      await whole;
      await rm(deps.dir, { recursive: true, force: true });
    },
  };
}
