import assert from "node:assert/strict";
import { test } from "vitest";
import { type ContainerState, type PodState, statusOf } from "./pod-status.ts";
import type { Pod } from "./resources.ts";

const now = Date.parse("2030-01-01T00:00:00Z");
const pod: Pod = {
  metadata: { namespace: "shop", name: "web-1" },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};

function status(container: ContainerState, changes: Partial<PodState> = {}, of: Pod = pod) {
  return statusOf(
    of,
    { container, restarts: 0, ip: "127.64.0.1", startedMs: now, ...changes },
    now,
  );
}

const running = { kind: "running", sinceMs: now, isReady: true, isStarted: true } as const;
const ended = {
  kind: "ended",
  exitCode: 1,
  sinceMs: now,
  untilMs: now,
  reason: "Error",
} as const;

function readyOf(of: ReturnType<typeof status>): string | undefined {
  return of.conditions?.find(({ type }) => type === "Ready")?.status;
}

test("a pod is Pending until its container runs, and Ready when the container is", () => {
  assert.equal(status({ kind: "waiting", reason: "ContainerCreating" }).phase, "Pending");
  assert.equal(readyOf(status({ ...running, isReady: false })), "False");
  assert.equal(readyOf(status(running)), "True");
  assert.equal(status(running).phase, "Running");
});

test("a pod whose container ended is Running while it is started again, with the end before", () => {
  const waiting = { kind: "waiting", reason: "CrashLoopBackOff" } as const;
  const { phase, containerStatuses: [container] = [] } = status(waiting, {
    restarts: 1,
    before: ended,
  });

  assert.equal(phase, "Running");
  assert.equal(container?.restartCount, 1);
  assert.equal(container.lastState?.terminated?.exitCode, 1);
});

test("a pod that is not started again has the phase that it ended with", () => {
  assert.equal(status(ended, { phase: "Failed" }).phase, "Failed");
});

test("a condition keeps the time of its last change", () => {
  const earlier = "2029-12-31T00:00:00Z";
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime: earlier }];
  const known: Pod = { ...pod, status: { conditions } };
  const timeOf = (container: ContainerState) =>
    status(container, {}, known).conditions?.find(({ type }) => type === "Ready")
      ?.lastTransitionTime;

  assert.equal(timeOf(running), earlier);
  assert.notEqual(timeOf({ ...running, isReady: false }), earlier);
});
