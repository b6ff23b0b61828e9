/** Approvals of plans by the controllers of leaders, on an API server in memory, with agents that say what would change. */
import assert from "node:assert/strict";
import type { RolloutStrategy } from "@flotilla/shared/api";
import type { Gate } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { secrets } from "@flotilla/shared/kube/objects";
import { describe, onTestFinished, test } from "vitest";
import type { AskAgent, PlanQuestion, PlanTarget } from "../../rollout/index.ts";
import { planIn, planLabel } from "../../rollout/plan/plan-secret.ts";
import { answered } from "../../rollout/plan/testing/index.ts";
import { createStagedFleet, decideGate, type StagedFleet } from "./testing/index.ts";

const strategy: RolloutStrategy = {
  stages: [
    { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } },
    { name: "prod", before: [{ name: "board", approval: { plan: true } }], maxUnavailable: 1 },
  ],
};

interface PlannedFleet extends StagedFleet {
  /** What would change in a cluster, by its name; absent: "image". */
  readonly diffs: Map<string, string>;
  readonly asked: (readonly [target: PlanTarget, question: PlanQuestion])[];
}

/** A fleet on which 1.2.3 is rolled out, and 1.2.4 waits for the approval of its plan in prod. */
async function waiting(): Promise<PlannedFleet> {
  const diffs = new Map<string, string>();
  const asked: (readonly [PlanTarget, PlanQuestion])[] = [];
  const askAgent: AskAgent = (target, question) => {
    asked.push([target, question]);
    const diff = diffs.get(target.cluster.replace("fleet-default/", "")) ?? "image";
    if (diff === "offline")
      return Promise.resolve({ kind: "unknown", reason: "Offline", message: "it is offline" });
    return Promise.resolve(answered(diff, question.withText ? `+${diff}\n` : ""));
  };
  const labels = { ams: { canary: "true" }, ber: {}, cgn: {}, dus: {} };
  const fleet = await createStagedFleet(strategy, labels, { askAgent });
  onTestFinished(() => fleet.stop());
  for (let round = 0; round < 12 && fleet.status().phase !== "Completed"; round += 1) {
    fleet.ready();
    approve(fleet);
    await fleet.pass();
  }
  assert.equal(fleet.status().phase, "Completed");
  asked.length = 0;
  await fleet.publish("1.2.4");
  fleet.ready();
  await fleet.pass();
  return { ...fleet, diffs, asked };
}

function openGate({ gates: all }: Pick<StagedFleet, "gates">): Gate | undefined {
  return all().findLast(({ status }) => status?.decision === undefined);
}

function approve({ leader, gates: all }: StagedFleet): void {
  const gate = openGate({ gates: all });
  if (gate !== undefined) decideGate(leader.rest, gate);
}

function plans({ leader }: StagedFleet) {
  return leader.rest
    .all(secrets)
    .filter(({ metadata }) => metadata.labels?.[planLabel] !== undefined);
}

describe("a rollout that waits for the approval of a plan", () => {
  test("installs for the first time after an approval of that", async () => {
    const fleet = await waiting();
    const [first] = fleet.gates();

    assert.deepEqual(first?.spec.plan, {
      groups: 1,
      changed: 3,
      unchanged: 0,
      failing: 0,
      offline: 0,
    });
  });

  test("asks the agents of the stage, all with one key, and one of them for the text", async () => {
    const fleet = await waiting();

    const quick = fleet.asked.filter(([, { withText }]) => !withText);
    assert.deepEqual(quick.map(([{ cluster }]) => cluster).toSorted(), [
      "fleet-default/ber",
      "fleet-default/cgn",
      "fleet-default/dus",
    ]);
    assert.equal(fleet.asked.length, 4);
    const keys = new Set(fleet.asked.map(([, { key }]) => Buffer.from(key).toString("hex")));
    assert.equal(keys.size, 1);
    assert.equal([...keys][0]?.length, 64);
    assert.ok(quick.every(([{ hasContent }]) => !hasContent));
  });

  test("has counts in the Gate, and the text in a Secret of the hub", async () => {
    const fleet = await waiting();

    const gate = openGate(fleet);
    assert.deepEqual([gate?.spec.plan?.groups, gate?.spec.plan?.changed], [1, 3]);
    const secret = plans(fleet).at(-1);
    assert.ok(secret);
    assert.equal(secret.metadata.namespace, "flotilla-system");
    const plan = planIn(secret);
    assert.deepEqual(
      plan?.groups.map(({ text, clusters }) => [text, clusters.count]),
      [["+image\n", 3]],
    );
    assert.doesNotMatch(JSON.stringify([fleet.current(), gate]), /\+image/);
  });

  test("promotes nothing before, and one after the other after it", async () => {
    const fleet = await waiting();
    assert.deepEqual(fleet.having("1.2.4"), ["ams"]);

    approve(fleet);
    await fleet.pass();

    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber"]);
  });

  test("is not asked for again by a new leader between approval and promotion", async () => {
    const fleet = await waiting();
    approve(fleet);
    await fleet.pass();
    const count = fleet.gates().length;

    await fleet.leader.drop();
    fleet.ready();
    await fleet.pass();
    await fleet.leader.drop();
    fleet.ready();
    await fleet.pass();

    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn", "dus"]);
    assert.equal(fleet.gates().length, count);
    assert.equal(openGate(fleet), undefined);
  });

  test("asks for a cluster that joins with another diff by a Gate of its own", async () => {
    const fleet = await waiting();
    approve(fleet);
    await fleet.pass();
    for (let round = 0; round < 3; round += 1) {
      fleet.ready();
      await fleet.pass();
    }
    const before = fleet.having("1.2.4");
    const gone = fleet.gates().length;

    fleet.diffs.set("new", "other");
    fleet.add("new", {});
    await fleet.pass();

    // It may have been asked about before it had the stable revision.
    assert.ok(fleet.gates().length > gone);
    const gate = openGate(fleet);
    assert.match(gate?.metadata.name ?? "", /-prod-board-[23]$/);
    assert.equal(gate?.spec.plan?.changed, 1);
    assert.deepEqual(fleet.having("1.2.4"), before);
    approve(fleet);
    await fleet.pass();
    assert.ok(fleet.having("1.2.4").includes("new"));
  });

  test("closes the Gate of a cluster that joined, once what would change in it is approved already", async () => {
    const fleet = await waiting();
    approve(fleet);
    fleet.add("new", {});
    for (let round = 0; round < 6; round += 1) {
      await fleet.pass();
      fleet.ready();
    }

    assert.ok(fleet.having("1.2.4").includes("new"));
    const open = fleet
      .gates()
      .filter(({ status }) => findCondition(status?.conditions, "Passed")?.status === "Unknown");
    assert.deepEqual(open, []);
  });

  test("closes the Gate when another revision takes its place", async () => {
    const fleet = await waiting();
    const gate = openGate(fleet);

    fleet.command({ state: "Cancelled" });
    await fleet.pass();

    const passed = fleet
      .gates()
      .find(({ metadata }) => metadata.name === gate?.metadata.name)
      ?.status?.conditions?.find(({ type }) => type === "Passed");
    assert.deepEqual([passed?.status, passed?.reason], ["False", "Superseded"]);
  });

  test("names a cluster that cannot be asked, and does not promote it", async () => {
    const fleet = await waiting();
    fleet.diffs.set("dus", "offline");
    await fleet.leader.drop();
    approve(fleet);
    for (let round = 0; round < 4; round += 1) {
      await fleet.pass();
      fleet.ready();
    }

    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn"]);
    assert.match(
      fleet.status().message ?? "",
      /does not know what would change in 1 cluster: fleet-default\/dus: it is offline/,
    );
    fleet.diffs.set("dus", "image");
    await fleet.pass(70_000);
    assert.deepEqual(fleet.having("1.2.4"), ["ams", "ber", "cgn", "dus"]);
  });

  test("a strategy without plans asks no agent", async () => {
    const fleet = await waiting();
    fleet.asked.length = 0;

    fleet.setStrategy({ stages: [{ name: "all" }] });
    await fleet.pass();

    assert.deepEqual(fleet.asked, []);
  });
});
