import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { slimObject } from "../slim-object.ts";
import { podReason } from "./pod-reason.ts";
import { toRuleInput } from "./rule-input.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The reason of a pod with this status, as one string; also from the cache. */
function reasonText(status: Fields): string | undefined {
  const pod = { metadata: { name: "web-0" }, status };
  const [full, cached] = [podReason(toRuleInput(pod)), podReason(toRuleInput(slimObject(pod)))];
  assert.deepEqual(cached, full);
  return full && `${full.kind}: ${full.message}`;
}

function condition(type: string, status: string, more: Fields = {}): Fields {
  return { conditions: [{ type, status, ...more }] };
}

function container(state: Fields, more: Fields = {}): Fields {
  const own = { name: "app", image: "nginx:9", ready: false, restartCount: 0, state, ...more };
  return { phase: "Pending", containerStatuses: [own] };
}

const waiting = (reason: string, message?: string): Fields => ({ waiting: { reason, message } });
const ended = (exitCode: number, reason: string): Fields => ({ terminated: { exitCode, reason } });
const running = { running: { startedAt: "2026-01-01T00:00:00Z" } };
const pull = 'failed to resolve reference "docker.io/library/nginx:9": not found';

describe("a pod is not ready", () => {
  const cases: readonly (readonly [what: string, status: Fields, expected: string | undefined])[] =
    [
      [
        "because no node fits, in the words of the scheduler",
        {
          phase: "Pending",
          ...condition("PodScheduled", "False", {
            reason: "Unschedulable",
            message: "0/3 nodes are available:\n3 Insufficient cpu.",
          }),
        },
        "unscheduled: is not scheduled: 0/3 nodes are available: 3 Insufficient cpu.",
      ],
      [
        "because its scheduler does nothing, or does not exist",
        { phase: "Pending" },
        "unscheduled: is not scheduled: no scheduler has taken it yet",
      ],
      [
        "because of scheduling gates",
        { phase: "Pending", ...condition("PodScheduled", "False", { reason: "SchedulingGated" }) },
        "unscheduled: is not scheduled: SchedulingGated",
      ],
      [
        "because its image cannot be pulled, in the words of the kubelet",
        container(waiting("ErrImagePull", pull)),
        `failed: container app cannot pull image "nginx:9": ${pull}`,
      ],
      [
        "with the same words while the kubelet waits before the next attempt",
        container(
          waiting("ImagePullBackOff", `Back-off pulling image "nginx:9": ErrImagePull: ${pull}`),
        ),
        `failed: container app cannot pull image "nginx:9": ${pull}`,
      ],
      [
        "with the reason if an older kubelet only says that it waits",
        container(waiting("ImagePullBackOff", 'Back-off pulling image "nginx:9"')),
        'failed: container app cannot pull image "nginx:9": ImagePullBackOff',
      ],
      [
        "because the image of an init container cannot be pulled",
        {
          phase: "Pending",
          initContainerStatuses: [
            { name: "migrate", image: "m:1", state: waiting("InvalidImageName", "bad name") },
          ],
          containerStatuses: [{ name: "app", image: "a:1", state: waiting("PodInitializing") }],
        },
        'failed: init container migrate cannot pull image "m:1": bad name',
      ],
      [
        "because of an image, without the credentials in addresses",
        container(
          waiting("ErrImagePull", 'Get "https://me:pass@r.example.com/b?X-Signature=abc": denied'),
        ),
        'failed: container app cannot pull image "nginx:9": Get "https://r.example.com/b": denied',
      ],
      [
        "because its container crashes repeatedly",
        container(waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=app"), {
          restartCount: 7,
          lastState: ended(137, "OOMKilled"),
        }),
        "failed: container app is in CrashLoopBackOff: exit code 137 (OOMKilled), 7 restarts",
      ],
      [
        "because its container crashes repeatedly, and nothing is known of its end",
        container(waiting("CrashLoopBackOff"), { restartCount: 1 }),
        "failed: container app is in CrashLoopBackOff: 1 restart",
      ],
      [
        "because its container has just ended, without the container's message",
        container({ terminated: { exitCode: 2, reason: "Error", message: "password=1" } }),
        "failed: container app has ended: exit code 2 (Error)",
      ],
      [
        "because its container cannot be created",
        container(waiting("CreateContainerConfigError", 'secret "database" not found')),
        'failed: container app: CreateContainerConfigError: secret "database" not found',
      ],
      [
        "because of what the kubelet does not explain",
        container(waiting("RunContainerError")),
        "failed: container app: RunContainerError",
      ],
      [
        "because its readiness probe fails",
        container(running, { started: true }),
        "unready: container app runs but is not ready",
      ],
      [
        "because its startup probe has not succeeded",
        container(running, { started: false, restartCount: 2, lastState: ended(137, "Error") }),
        "unready: container app has not started up: last exit code 137 (Error), 2 restarts",
      ],
      [
        "because an init container runs",
        {
          phase: "Pending",
          initContainerStatuses: [
            { name: "sidecar", ready: true, started: true, state: running },
            { name: "migrate", ready: false, started: false, state: running },
          ],
        },
        "unready: init container migrate has not completed",
      ],
      [
        "because of one that fails, rather than one that is not ready",
        {
          phase: "Running",
          containerStatuses: [
            { name: "proxy", ready: false, state: running },
            { name: "app", ready: false, state: waiting("CrashLoopBackOff") },
          ],
        },
        "failed: container app is in CrashLoopBackOff",
      ],
      [
        "because of its readiness gates",
        {
          phase: "Running",
          ...condition("Ready", "False", {
            reason: "ReadinessGatesNotReady",
            message: "no target",
          }),
          containerStatuses: [{ name: "app", ready: true, state: running }],
        },
        "unready: no target",
      ],
      [
        "because it was evicted",
        { phase: "Failed", reason: "Evicted", message: "The node was low on memory. " },
        "ended: Evicted: The node was low on memory.",
      ],
      [
        "because its container ended",
        { ...container(ended(1, "Error")), phase: "Failed" },
        "ended: container app has ended: exit code 1 (Error)",
      ],
      [
        "without a reason while its containers are created",
        container(waiting("ContainerCreating")),
        undefined,
      ],
      ["without a reason while it is new", {}, undefined],
    ];
  for (const [what, status, expected] of cases)
    test(what, () => assert.equal(reasonText(status), expected));
});

describe("a pod has no reason", () => {
  test("when it is ready or has succeeded", () => {
    const crashed = container(running, { restartCount: 3, lastState: ended(1, "Error") });

    assert.equal(reasonText({ ...crashed, ...condition("Ready", "True") }), undefined);
    assert.equal(reasonText({ phase: "Succeeded" }), undefined);
  });
});

test("long words of the kubelet are cut", () => {
  const reason = reasonText(container(waiting("ErrImagePull", "x".repeat(5_000)))) ?? "";

  assert.ok(reason.length < 400 && reason.endsWith("x…"));
});
