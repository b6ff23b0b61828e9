/** The status of a pod from what the runner knows about its container. Pure. */
import { formatTimeMs } from "@flotilla/shared/time";
import type { Pod, PodStatus } from "./resources.ts";

/** Times are Unix milliseconds. */
export type ContainerState =
  | { readonly kind: "waiting"; readonly reason: string; readonly message?: string }
  | {
      readonly kind: "running";
      readonly sinceMs: number;
      readonly isReady: boolean;
      readonly isStarted: boolean;
    }
  | {
      readonly kind: "ended";
      readonly exitCode: number;
      readonly sinceMs: number;
      readonly untilMs: number;
      readonly reason: string;
    };

export interface PodState {
  readonly container: ContainerState;
  /** The end of the container before this one. */
  readonly before?: Extract<ContainerState, { kind: "ended" }>;
  readonly restarts: number;
  readonly ip: string;
  readonly startedMs: number;
  /** Set once the container ended and is not started again. */
  readonly phase?: "Succeeded" | "Failed";
}

export function statusOf(pod: Pod, state: PodState, nowMs: number): PodStatus {
  const [container] = pod.spec?.containers ?? [];
  const { container: current, before, ip } = state;
  const isReady = current.kind === "running" && current.isReady;
  const phase =
    state.phase ?? (current.kind === "waiting" && state.restarts === 0 ? "Pending" : "Running");
  const condition = (type: string, isTrue: boolean) => {
    const status = isTrue ? "True" : "False";
    const known = pod.status?.conditions?.find((each) => each.type === type);
    const since = known?.status === status ? known.lastTransitionTime : undefined;
    return { type, status, lastTransitionTime: since ?? formatTimeMs(nowMs) };
  };
  return {
    phase,
    conditions: [
      condition("PodScheduled", true),
      condition("Initialized", true),
      condition("ContainersReady", isReady),
      condition("Ready", isReady),
    ],
    hostIP: "127.0.0.1",
    podIP: ip,
    podIPs: [{ ip }],
    startTime: formatTimeMs(state.startedMs),
    containerStatuses: [
      {
        name: container?.name ?? "",
        image: container?.image ?? "",
        imageID: "",
        ready: isReady,
        started: current.kind === "running" && current.isStarted,
        restartCount: state.restarts,
        state: stateOf(current),
        ...(before !== undefined && { lastState: stateOf(before) }),
      },
    ],
  };
}

function stateOf(state: ContainerState) {
  switch (state.kind) {
    case "waiting":
      return {
        waiting: { reason: state.reason, ...(state.message && { message: state.message }) },
      };
    case "running":
      return { running: { startedAt: formatTimeMs(state.sinceMs) } };
    case "ended":
      return {
        terminated: {
          exitCode: state.exitCode,
          reason: state.reason,
          startedAt: formatTimeMs(state.sinceMs),
          finishedAt: formatTimeMs(state.untilMs),
        },
      };
  }
}
