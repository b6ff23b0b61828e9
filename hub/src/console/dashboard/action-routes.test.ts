import assert from "node:assert/strict";
import { type HelmOp, helmOps } from "@flotilla/shared/api";
import type { ActionName, AppDetail } from "@flotilla/shared/dashboard";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Hono } from "hono";
import { describe, test } from "vitest";
import { actionRoutes } from "./action-routes.ts";
import type { Env } from "./context.ts";
import { problemOf } from "./problem.ts";
import { createViewedResources } from "./viewed-resources.ts";

const ref = { namespace: "shop", name: "web" };

/** A HelmOp, and a user who may do everything in its namespace. */
function setUp({ suspended = false, isPolled = false } = {}) {
  const rest = createMemoryApiServer();
  const helmOp: HelmOp = {
    ...{ apiVersion: "fleet.cattle.io/v1alpha1", kind: "HelmOp", metadata: ref },
    spec: { suspend: suspended },
  };
  rest.put(helmOps, helmOp);
  const notes: string[] = [];
  const user = { username: "alice", uid: "", groups: [], extra: {} };
  const credentials = { kind: "token", token: "own" } as const;
  const api = new Hono<Env>();
  api.use(async (context, next) => {
    context.set("session", { user, credentials, csrfToken: "", expiresAtMs: 0 });
    context.set("scope", { key: "shop", sees: (_kind, namespace) => namespace === "shop" });
    await next();
  });
  api.onError((thrown, context) => {
    const { status, problem } = problemOf(thrown);
    return context.json(problem, status);
  });
  actionRoutes(api, {
    details: {
      app: ({ name }) => (name === "web" ? ({ suspended } as AppDetail) : undefined),
      source: () => undefined,
      hasDrift: () => false,
      isPolled: () => isPolled,
    },
    access: { may: () => Promise.resolve(true) },
    resources: createViewedResources([{ resource: helmOps, namespaces: () => ["shop"] }]),
    asUser: (_credentials, work) => work(rest),
    events: {
      record: (_object, { note }) => void notes.push(note),
      flush: () => Promise.resolve(),
    },
    ...{ clock: createFakeClock(), log: silentLog() },
  });
  return {
    ...{ notes, rest },
    async act(action: ActionName, target = ref) {
      const body = JSON.stringify({ action, kind: "HelmOp", ...target });
      const answer = await api.request("/api/v1/actions", { method: "POST", body });
      return { status: answer.status, text: await answer.text() };
    },
  };
}

describe("an action of a user", () => {
  test("changes the object, and is recorded as an Event", async () => {
    const { act, rest, notes } = setUp({ isPolled: true });
    assert.equal((await act("poll")).status, 204);
    assert.deepEqual(Object.keys(rest.peek(helmOps, ref)?.metadata.annotations ?? {}), [
      "flotilla.dev/poll-requested-at",
    ]);
    assert.deepEqual(notes, ["poll requested by alice on the dashboard"]);
  });

  test("is rejected without an Event if it has no effect", async () => {
    const rows = [
      ["poll", {}, /ACTION_FAILED.*poll HelmOp shop\/web: it is not polled: /],
      ["force", { suspended: true }, /ACTION_FAILED.*: it is suspended; resume it first/],
      ["poll", { suspended: true, isPolled: true }, /ACTION_FAILED.*: it is suspended; resume/],
    ] as const;
    for (const [action, state, problem] of rows) {
      const { act, rest, notes } = setUp(state);
      const { status, text } = await act(action);
      assert.equal(status, 422);
      assert.match(text, problem);
      assert.deepEqual([rest.writes, notes], [[], []]);
    }
  });

  test("is rejected on an object that does not exist, or that the user may not list", async () => {
    const { act } = setUp();
    assert.equal((await act("reconcile", { ...ref, name: "api" })).status, 404);
    assert.equal((await act("reconcile", { ...ref, namespace: "other" })).status, 403);
  });
});
