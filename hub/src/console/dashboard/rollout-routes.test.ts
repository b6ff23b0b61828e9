import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { type BundleRollout, bundleRollouts, type Gate, gates } from "@flotilla/shared/api/rollout";
import type { ResponseOf, RolloutActionName } from "@flotilla/shared/dashboard";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Hono } from "hono";
import { describe, test } from "vitest";
import { aBundle, aHelmOp, workspace } from "../../testing/index.ts";
import type { Attributes } from "../access/reviews.ts";
import { FleetDetails } from "../fleetview/index.ts";
import { createShownCaches } from "../fleetview/testing/index.ts";
import type { Env } from "./context.ts";
import { problemOf } from "./problem.ts";
import { rolloutRoutes } from "./rollout-routes.ts";
import { createViewedResources } from "./viewed-resources.ts";

const at = "2026-01-01T11:00:00Z";
const app = { kind: "HelmOp", name: "web" } as const;
const counts = {
  ...{ total: 2, done: 0, inFlight: 0, failed: 0, pending: 2, offline: 0 },
  ...{ paused: 0, skipped: 0, offSchedule: 0, brokenBefore: 0 },
};
const digest = "sha256:board";
const rollout: BundleRollout = {
  ...{ apiVersion: "flotilla.dev/v1alpha1", kind: "BundleRollout" },
  metadata: { namespace: workspace, name: "web-7", uid: "uid-7" },
  spec: {
    ...{ bundle: { name: "web", uid: "uid-bundle" }, app, number: 7, revision: "sha256:r" },
    ...{ targets: [], signature: "" },
  },
  status: {
    ...{ phase: "Waiting", message: "waits", since: at, clusters: counts },
    stages: [
      {
        ...{ name: "all", phase: "Gated", ...counts },
        gates: [
          {
            ...{ name: "board", when: "Before", type: "Approval", result: "Waiting" },
            ...{ gate: "web-7-all-board", uid: "uid-board", digest, startedAt: at },
          },
        ],
      },
    ],
  },
};
const gate: Gate = {
  ...{ apiVersion: "flotilla.dev/v1alpha1", kind: "Gate" },
  metadata: { namespace: workspace, name: "web-7-all-board", uid: "uid-board" },
  spec: {
    ...{ type: "Approval", app, gate: "board", when: "Before", stage: "all", digest },
    ...{ rollout: { name: "web-7", uid: "uid-7" }, revision: "sha256:r" },
    clusters: { count: 2, first: [] },
  },
};

interface Given {
  readonly sees?: (kind: string) => boolean;
  readonly may?: (attributes: Attributes) => boolean;
}

function setUp({ sees = () => true, may = () => true }: Given = {}) {
  const rest = createMemoryApiServer();
  rest.put(bundleRollouts, rollout);
  rest.put(gates, gate);
  const caches = createShownCaches();
  caches.helmOps.saw(aHelmOp());
  caches.bundles.saw(aBundle({ rolloutStrategy: { onFailure: "Halt" } }));
  caches.rollouts.saw(rollout);
  caches.gates.saw(gate);
  const notes: string[] = [];
  const user = { username: "alice", uid: "", groups: [], extra: {} };
  const credentials = { kind: "token", token: "own" } as const;
  const api = new Hono<Env>();
  api.use(async (context, next) => {
    context.set("session", { user, credentials, csrfToken: "", expiresAtMs: 0 });
    context.set("scope", { key: "", sees });
    await next();
  });
  api.onError((thrown, context) => {
    const { status, problem } = problemOf(thrown);
    return context.json(problem, status);
  });
  const kinds = [helmOps, bundleRollouts, gates];
  rolloutRoutes(api, {
    details: new FleetDetails({ ...caches, version: "0.3.0" }),
    access: { may: (_user, attributes) => Promise.resolve(may(attributes)) },
    resources: createViewedResources(
      kinds.map((resource) => ({ resource, namespaces: () => [workspace] })),
    ),
    asUser: (_credentials, work) => work(rest),
    events: {
      record: (_object, { note }) => void notes.push(note),
      flush: () => Promise.resolve(),
    },
    ...{ clock: createFakeClock(), log: silentLog() },
  });
  return {
    ...{ rest, notes },
    async read() {
      const answer = await api.request(`/api/v1/apps/HelmOp/${workspace}/web/rollouts`);
      const body = answer.ok ? ((await answer.json()) as ResponseOf<"rollouts">) : undefined;
      return { status: answer.status, body };
    },
    async act(action: RolloutActionName, more: Readonly<Record<string, unknown>> = {}) {
      const named = { action, namespace: workspace, rollout: "web-7", uid: "uid-7" };
      const seen = { name: "web-7-all-board", uid: "uid-board", digest };
      const body = JSON.stringify({ ...named, gate: seen, ...more });
      const answer = await api.request("/api/v1/rollout-actions", { method: "POST", body });
      return { status: answer.status, text: await answer.text() };
    },
  };
}

describe("the rollouts of an app", () => {
  test("have the actions of the newest one and of its gates", async () => {
    const { body } = await setUp().read();
    const board = body?.current?.stages[0]?.gates[0];

    assert.deepEqual(
      body?.current?.actions.map(({ action, allowed, reason }) => [action, allowed, reason]),
      [
        ["halt", true, undefined],
        ["rollback", false, "no cluster has got the revision in place of another one"],
        ["cancel", true, undefined],
      ],
    );
    assert.deepEqual(
      board?.actions.map(({ action, command }) => [action, command]),
      [
        ["approve", `flotilla approve helmop web ${digest} -n ${workspace} --stage all`],
        ["reject", `flotilla reject helmop web ${digest} -n ${workspace} --stage all`],
      ],
    );
  });

  test("say which right is missing", async () => {
    const may = ({ subresource }: Attributes) => subresource === "status";
    const { body } = await setUp({ may }).read();

    const reasons = [
      ...(body?.current?.actions ?? []),
      ...(body?.current?.stages[0]?.gates[0]?.actions ?? []),
    ].map(({ action, reason }) => [action, reason]);
    const patch = `you may not patch bundlerollouts in namespace ${workspace}`;
    const approve = `you may not update gates/approve in namespace ${workspace}`;
    assert.deepEqual(reasons, [
      ["halt", patch],
      ["rollback", "no cluster has got the revision in place of another one"],
      ["cancel", patch],
      ["approve", approve],
      ["reject", approve],
    ]);
  });

  test("are not shown to those who may not list BundleRollouts", async () => {
    const given = setUp({ sees: (kind) => kind !== "BundleRollout" });

    assert.equal((await given.read()).status, 403);
    assert.equal((await given.act("halt")).status, 403);
    assert.deepEqual(given.rest.writes, []);
  });
});

describe("a decision", () => {
  test("has the name of the user, the digest that was seen and the message", async () => {
    const { act, rest, notes } = setUp();

    assert.equal((await act("approve", { message: "CHG-1" })).status, 204);
    assert.deepEqual(rest.peek(gates, gate.metadata)?.status?.decision, {
      ...{ result: "Passed", by: "alice", digest, message: "CHG-1" },
    });
    assert.deepEqual(notes, ["approved by alice on the dashboard"]);
  });

  test("that rejects fails the gate", async () => {
    const { act, rest } = setUp();

    assert.equal((await act("reject")).status, 204);
    assert.equal(rest.peek(gates, gate.metadata)?.status?.decision?.result, "Failed");
  });

  test("without a Gate is rejected", async () => {
    const { act, rest } = setUp();

    const { status, text } = await act("approve", { gate: undefined });
    assert.equal(status, 422);
    assert.match(text, /the request names no Gate/);
    assert.deepEqual(rest.writes, []);
  });
});

describe("a command", () => {
  test("writes the state of the rollout as the user", async () => {
    const { act, rest, notes } = setUp();

    assert.equal((await act("halt")).status, 204);
    assert.equal(rest.peek(bundleRollouts, rollout.metadata)?.spec.state, "Halted");
    assert.deepEqual(notes, ["halt requested by alice on the dashboard"]);
  });

  test("that the rollout does not offer now is rejected", async () => {
    const { act, rest } = setUp();

    const { status, text } = await act("resume");
    assert.equal(status, 422);
    assert.match(text, /resume BundleRollout .*web-7: it is Waiting, with spec.state Running/);
    assert.deepEqual(rest.writes, []);
  });

  test("concerns the rollout that was seen, and no other one of its name", async () => {
    assert.equal((await setUp().act("halt", { uid: "uid-other" })).status, 404);
  });
});
