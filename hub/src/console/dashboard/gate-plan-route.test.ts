/** Who reads on the dashboard what an approval is about. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import { bundleRollouts, type Gate, gates } from "@flotilla/shared/api/rollout";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import type { FleetPlan } from "@flotilla/shared/plan";
import { Hono } from "hono";
import { test } from "vitest";
import { planSecret } from "../../rollout/plan/plan-secret.ts";
import { workspace } from "../../testing/index.ts";
import type { Attributes } from "../access/reviews.ts";
import type { Env } from "./context.ts";
import { gatePlanRoute } from "./gate-plan-route.ts";
import { problemOf } from "./problem.ts";
import { createViewedResources } from "./viewed-resources.ts";

const app = { kind: "HelmOp", name: "web" } as const;
const digest = "sha256:board";
const plan: FleetPlan = {
  ...{ total: 2, groups: [], others: { groups: 0, clusters: 0 } },
  ...{ unchanged: { count: 2, first: ["ns/a", "ns/b"] }, unknown: [], notAsked: 0 },
};
const gate: Gate = {
  ...{ apiVersion: "flotilla.dev/v1alpha1", kind: "Gate" },
  metadata: { namespace: workspace, name: "web-7-all-board", uid: "uid-board" },
  spec: {
    ...{ type: "Approval", app, gate: "board", when: "Before", stage: "all", digest },
    ...{ rollout: { name: "web-7", uid: "uid-7" }, revision: "sha256:r" },
    ...{ clusters: { count: 2, first: [] } },
    plan: { groups: 0, changed: 0, unchanged: 2, failing: 0, offline: 0 },
  },
};

interface Given {
  readonly sees?: (kind: string) => boolean;
  readonly may?: (attributes: Attributes) => boolean;
}

async function read(path: string, { sees = () => true, may = () => true }: Given = {}) {
  const rest = createMemoryApiServer();
  rest.put(gates, gate);
  const record = { gate: gate.metadata.name, digest } as const;
  const place = { namespace: hubNamespace, rollout: `${workspace}/web-7` } as const;
  await rest.create(secrets, planSecret(record, plan, place));
  const user = { username: "alice", uid: "", groups: [], extra: {} };
  const api = new Hono<Env>();
  api.use(async (context, next) => {
    const credentials = { kind: "token", token: "own" } as const;
    context.set("session", { user, credentials, csrfToken: "", expiresAtMs: 0 });
    context.set("scope", { key: "", sees });
    await next();
  });
  api.onError((thrown, context) => {
    const { status, problem } = problemOf(thrown);
    return context.json(problem, status);
  });
  gatePlanRoute(api, {
    rest,
    access: { may: (_user, attributes) => Promise.resolve(may(attributes)) },
    resources: createViewedResources(
      [helmOps, bundleRollouts].map((resource) => ({ resource, namespaces: () => [workspace] })),
    ),
  });
  const answer = await api.request(`/api/v1/apps/HelmOp/${workspace}/${path}`);
  const body: unknown = await answer.json();
  return { status: answer.status, body };
}

const path = "web/gates/web-7-all-board/plan";

test("the plan of a Gate is as it was stored when the Gate was made", async () => {
  assert.deepEqual(await read(path), { status: 200, body: plan });
});

test("without the right to read plans nobody gets one, and the answer names the right", async () => {
  const asked: Attributes[] = [];
  const may = (attributes: Attributes) => {
    asked.push(attributes);
    return false;
  };
  const { status, body } = await read(path, { may });

  assert.equal(status, 403);
  assert.match(JSON.stringify(body), /alice may not get bundlerollouts\/plan of API group/);
  assert.deepEqual(
    asked.map(({ resource, subresource, namespace }) => [resource, subresource, namespace]),
    [["bundlerollouts", "plan", workspace]],
  );
});

test("who does not see rollouts gets no plan, and another app has not that Gate", async () => {
  const { status } = await read(path, { sees: (kind) => kind !== bundleRollouts.kind });

  assert.notEqual(status, 200);
  assert.equal((await read("api/gates/web-7-all-board/plan")).status, 404);
});
