import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { createFilters } from "./filters.ts";
import type { Receiver } from "./receiver.ts";
import { judge, receiverStatus, suspendedStatus } from "./status.ts";
import { webhookPath } from "./webhook-path.ts";

const now = "2026-01-01T00:00:00Z";
const rules = { crossNamespace: false, filters: createFilters() };

function receiver(
  spec: Partial<Receiver["spec"]> = {},
  more: Partial<Pick<Receiver, "status">> & { readonly requestedAt?: string } = {},
): Receiver {
  const { requestedAt, ...rest } = more;
  return {
    metadata: {
      ...{ namespace: "apps", name: "hook", generation: 2 },
      ...(requestedAt !== undefined && {
        annotations: { "reconcile.fluxcd.io/requestedAt": requestedAt },
      }),
    },
    spec: {
      ...{ type: "generic", interval: "10m", secretRef: { name: "token" } },
      resources: [{ kind: "HelmOp", name: "web" }],
      ...spec,
    },
    ...rest,
  };
}

function statusOf(of: Receiver, token?: string) {
  const status = receiverStatus(of, judge(of, token, rules), now);
  const conditions = (status?.conditions ?? []).map(
    ({ type, status: is, reason }) => `${type}=${is} ${reason}`,
  );
  return { status, conditions, message: status?.conditions?.at(-1)?.message ?? "" };
}

describe("the status of a Receiver", () => {
  test("has the path of the webhook when it is ready", () => {
    const { status, conditions, message } = statusOf(receiver(), "secret");

    const path = webhookPath("secret", { namespace: "apps", name: "hook" });
    assert.equal(status?.webhookPath, path);
    assert.equal(status.observedGeneration, 2);
    assert.deepEqual(conditions, ["Ready=True Succeeded"]);
    assert.equal(message, `Receiver initialized for path: ${path}`);
  });

  test("has no path without a token, and is reconciled again", () => {
    const before = { webhookPath: "/hook/old", observedGeneration: 1 };
    const { status, conditions } = statusOf(receiver({}, { status: before }));

    assert.equal(status?.webhookPath, undefined);
    assert.equal(status?.observedGeneration, 1);
    assert.deepEqual(conditions, [
      "Reconciling=True ProgressingWithRetry",
      "Ready=False TokenNotFound",
    ]);
  });

  test.each<readonly [string, Partial<Receiver["spec"]>, string, RegExp]>([
    [
      "type generic-oidc",
      { type: "generic-oidc" },
      "ValidationFailed",
      /generic-oidc is not supported/,
    ],
    [
      "more resources than the limit",
      { resources: Array.from({ length: 501 }, () => ({ kind: "HelmOp" as const, name: "web" })) },
      "ValidationFailed",
      /spec\.resources has 501 entries; the limit is 500: select objects by their labels/,
    ],
    ["type cdevents", { type: "cdevents" }, "ValidationFailed", /cdevents is not supported/],
    [
      "a filter that is not CEL",
      { resourceFilter: "req.x ==" },
      "InvalidCELExpression",
      /spec\.resourceFilter: .*line 1/,
    ],
    [
      "a filter of a resource with an unknown variable",
      { resources: [{ kind: "HelmOp", name: "web", filter: "claims.x == 1" }] },
      "InvalidCELExpression",
      /spec\.resources\[0\]\.filter/,
    ],
    [
      "no resource that the hub reconciles",
      { resources: [{ kind: "Kustomization", name: "web" }] },
      "ValidationFailed",
      /Kustomization is not reconciled/,
    ],
  ])("stalls with %s", (_, spec, reason, message) => {
    const found = statusOf(receiver(spec), "secret");

    assert.deepEqual(found.conditions, [`Stalled=True ${reason}`, `Ready=False ${reason}`]);
    assert.match(found.message, message);
    assert.equal(found.status?.webhookPath, undefined);
    assert.equal(found.status?.observedGeneration, 2);
  });

  test("says which of its resources are not triggered", () => {
    const resources = [
      { kind: "HelmOp", name: "web" },
      { kind: "ImageRepository", name: "web" },
    ] as const;

    const { conditions, message } = statusOf(receiver({ resources: [...resources] }), "secret");

    assert.deepEqual(conditions, ["Ready=True Succeeded"]);
    assert.match(message, /; spec\.resources\[1\]: kind ImageRepository is not reconciled/);
  });

  test("is the same object when nothing has changed", () => {
    const { status } = statusOf(receiver(), "secret");
    const again = receiver({}, { ...(status && { status }) });

    assert.equal(statusOf(again, "secret").status, again.status);
  });

  test("records a handled request also while it is suspended, and keeps its conditions", () => {
    const { status } = statusOf(receiver(), "secret");
    const suspended = receiver(
      { suspend: true },
      { ...(status && { status }), requestedAt: "one" },
    );

    assert.deepEqual(suspendedStatus(suspended), { ...status, lastHandledReconcileAt: "one" });
    assert.equal(suspendedStatus(receiver()), undefined);
  });
});
