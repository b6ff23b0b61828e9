import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { BundleDeployment, Promotion } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { silentLog } from "@flotilla/shared/log";
import { diffOf } from "@flotilla/shared/plan/approved";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createPinSigner } from "../../rules/index.ts";
import { aDeployment } from "../../testing/index.ts";
import type { AgentAnswer, AskAgent, PlanQuestion, PlanTarget } from "../plan/plan-outcome.ts";
import { aDigest, answered } from "../plan/testing/index.ts";
import { createPlanner, type ToPlan } from "./planner.ts";

const key = randomBytes(32);

function aRollout(uid: string, name = "web-7"): BundleRollout {
  return {
    metadata: { name, namespace: "fleet-default", uid },
    spec: {
      bundle: { name: "web", uid: "uid-bundle" },
      app: { kind: "HelmOp", name: "web" },
      number: 7,
      revision: aDigest("revision"),
      targets: [],
      signature: "",
    },
  };
}

const rollout = aRollout("uid-7");
const content = { deploymentId: aDigest("new"), referencedObjects: [] };

function aCluster(name: string, status: BundleDeployment["status"] = {}): ToPlan {
  return {
    cluster: `fleet-default/${name}`,
    content,
    deployment: aDeployment(name, { spec: { deploymentID: aDigest("old") }, status }),
  };
}

const refusable: Promotion = {
  ...{ rollout: "web-7", at: "2026-12-01T10:00:00.000Z", from: aDigest("old"), wasReady: true },
};

function setUp(answer: (cluster: string) => AgentAnswer = () => answered("image", "+image\n")) {
  const clock = createFakeClock();
  const asked: PlanQuestion[] = [];
  const targets: PlanTarget[] = [];
  const ask: AskAgent = (target, question) => {
    asked.push(question);
    targets.push(target);
    return Promise.resolve(answer(target.cluster));
  };
  const planner = createPlanner({ ask, signer: createPinSigner(key), clock, log: silentLog() });
  let rounds = 0;
  async function round(...clusters: readonly ToPlan[]): Promise<void> {
    planner.ask(rollout, clusters, () => {
      rounds += 1;
    });
    await settle();
  }
  return { planner, clock, asked, targets, round, rounds: () => rounds };
}

describe("what a leader knows of plans", () => {
  test("is what the agents have answered, and the text of each diff once", async () => {
    const { planner, asked, round, rounds } = setUp();
    const [ams, ber] = [aCluster("ams"), aCluster("ber")];
    assert.equal(planner.planOf(rollout, ams), undefined);

    await round(ams, ber);

    const diff = diffOf(aDigest("image"));
    assert.deepEqual(planner.planOf(rollout, ams), { kind: "known", diff, fails: false });
    assert.equal(planner.diff(rollout, diff)?.text, "+image\n");
    assert.deepEqual([asked.length, rounds()], [3, 1]);
    await round(aCluster("cgn"));
    assert.equal(asked.length, 4);
  });

  const changes: readonly (readonly [string, ToPlan])[] = [
    ["another content is installed", aCluster("ams", { appliedDeploymentID: aDigest("other") })],
    ["the release has another revision", aCluster("ams", { release: "web/web:9" })],
    [
      "another content is planned",
      { ...aCluster("ams"), content: { ...content, deploymentId: aDigest("x") } },
    ],
  ];
  for (const [name, changed] of changes)
    test(`does not count when ${name}`, async () => {
      const { planner, round } = setUp();
      await round(aCluster("ams"));

      assert.equal(planner.planOf(rollout, changed), undefined);
      assert.notEqual(planner.planOf(rollout, aCluster("ams")), undefined);
    });

  test("counts for a quarter of an hour, and for a minute where there was no answer", async () => {
    const { planner, clock, round } = setUp((cluster) =>
      cluster.endsWith("ams")
        ? answered("image")
        : { kind: "unknown", reason: "Failed", message: "no answer" },
    );
    const [ams, ber] = [aCluster("ams"), aCluster("ber")];
    await round(ams, ber);
    const unknown = planner.planOf(rollout, ber);
    assert.ok(unknown?.kind === "unknown");
    assert.deepEqual([unknown.message, unknown.untilMs], ["no answer", clock.now() + 60_000]);

    await clock.advance(61_000);
    assert.equal(planner.planOf(rollout, ber), undefined);
    assert.notEqual(planner.planOf(rollout, ams), undefined);
    await clock.advance(15 * 60_000);
    assert.equal(planner.planOf(rollout, ams), undefined);
  });

  test("has no diff where nothing would change", async () => {
    const { planner, round } = setUp(() => answered(""));
    await round(aCluster("ams"));

    assert.deepEqual(planner.planOf(rollout, aCluster("ams")), {
      kind: "known",
      diff: "",
      fails: false,
    });
  });

  test("is asked with the same key by every leader, and with another one for another rollout", async () => {
    const first = setUp();
    await first.round(aCluster("ams"));
    const second = setUp();
    await second.round(aCluster("ams"));
    second.planner.ask(aRollout("uid-8", "web-8"), [aCluster("ams")], () => undefined);
    await settle();

    const keys = [...first.asked, ...second.asked].map((each) =>
      Buffer.from(each.key).toString("hex"),
    );
    assert.equal(keys[0]?.length, 64);
    assert.equal(new Set(keys.slice(0, 4)).size, 1);
    assert.equal(new Set(keys).size, 2);
  });

  test("is a first installation where nothing is deployed, without a question", () => {
    const { planner, asked } = setUp();
    const [one, other] = ["ams", "ber"].map((name) => ({
      ...aCluster(name),
      deployment: undefined,
    }));
    assert.ok(one !== undefined && other !== undefined);

    const plan = planner.planOf(rollout, one);

    assert.ok(plan?.kind === "known" && plan.diff !== "");
    assert.deepEqual(planner.planOf(rollout, other), plan);
    assert.equal(planner.diff(rollout, plan.diff)?.result.result, "install");
    assert.deepEqual(asked, []);
  });

  test("is asked for again at once when its agent has refused what was promoted, with all that it needs", async () => {
    const { planner, targets, round } = setUp();
    const referenced = { ...content, referencedObjects: ["Secret/charts"] };
    const before = { ...aCluster("ams"), content: referenced };
    await round(before);
    const promotion = { ...refusable, planned: "AAAAAAAAAAAAAAAA" };
    const spec = { deploymentID: content.deploymentId, promotion, ...referenced };
    const refused = {
      ...before,
      deployment: aDeployment("ams", { spec, status: { refusedAt: promotion.at } }),
    };
    assert.equal(planner.planOf(rollout, refused), undefined);

    await round(refused);

    const { hasContent, objects } = targets.at(-1) ?? {};
    assert.deepEqual([hasContent, objects], [false, ["Secret/charts"]]);
    const takenBack = { ...refusable, from: content.deploymentId, refused: 1 };
    const back = {
      ...before,
      deployment: aDeployment("ams", {
        spec: { deploymentID: aDigest("old"), promotion: takenBack },
      }),
    };
    assert.equal(planner.planOf(rollout, back)?.kind, "known");
  });

  test("is no first installation where its agent has refused that", () => {
    const { planner } = setUp();
    const first = (promotion?: Promotion) => ({
      ...aCluster("ams"),
      deployment: aDeployment("ams", {
        spec: { deploymentID: "", ...(promotion !== undefined && { promotion }) },
      }),
    });

    assert.partialDeepStrictEqual(planner.planOf(rollout, first()), { isFirst: true });
    const refused = { ...refusable, from: content.deploymentId, refused: 1 };
    assert.equal(planner.planOf(rollout, first(refused)), undefined);
  });

  test("waits where its agent refuses again and again, and says until when", async () => {
    const { planner, clock } = setUp();
    const at = new Date(clock.now()).toISOString();
    const promotion = { ...refusable, at, refused: 3 };
    const ams = {
      ...aCluster("ams"),
      deployment: aDeployment("ams", { spec: { deploymentID: aDigest("old"), promotion } }),
    };

    const plan = planner.planOf(rollout, ams);

    assert.ok(plan?.kind === "unknown");
    assert.equal(plan.untilMs, clock.now() + 120_000);
    assert.match(
      plan.message,
      /has refused again what was approved.*PLAN_STALE.*asked again at 20/,
    );
    await clock.advance(120_000);
    assert.equal(planner.planOf(rollout, ams), undefined);
  });

  test("asks one round of a rollout at a time, and none after its end", async () => {
    const { planner, asked, round } = setUp();
    planner.ask(rollout, [aCluster("ams")], () => undefined);
    planner.ask(rollout, [aCluster("ber")], () => undefined);
    await settle();
    assert.equal(asked.length, 2);

    planner.stop();
    await round(aCluster("cgn"));
    assert.equal(asked.length, 2);
  });

  test("is forgotten with its rollout", async () => {
    const { planner, round } = setUp();
    await round(aCluster("ams"));

    planner.keep("fleet-default/web", new Set(["uid-8"]));

    assert.equal(planner.planOf(rollout, aCluster("ams")), undefined);
  });
});
