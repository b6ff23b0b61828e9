import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { askFleet, parallelPlans } from "../plan/ask-fleet.ts";
import type { AgentAnswer, AskAgent, PlanQuestion } from "../plan/plan-outcome.ts";
import { answered, aTarget, known } from "../plan/testing/index.ts";
import type { PlanCandidate } from "./desired-plan.ts";
import { planFleet } from "./plan-candidates.ts";

const options = { key: Buffer.from("key"), signal: new AbortController().signal };

function clusterNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `ns/c${String(index).padStart(4, "0")}`);
}

function candidate(cluster: string): PlanCandidate {
  const target = aTarget(cluster);
  return { cluster, stage: undefined, kind: "", plan: { kind: "ask", target } };
}

/** Agents that answer at once, and what they were asked. */
function agents(answerOf: (cluster: string, question: PlanQuestion) => AgentAnswer) {
  const asked: (readonly [cluster: string, withText: boolean])[] = [];
  const ask: AskAgent = ({ cluster }, question) => {
    asked.push([cluster, question.withText]);
    return Promise.resolve(answerOf(cluster, question));
  };
  return { ask, asked };
}

describe("asking a fleet", () => {
  test("asks at most 200 agents at a time, and each once", async () => {
    let running = 0;
    let most = 0;
    const asked: string[] = [];
    const ask: AskAgent = async ({ cluster }) => {
      asked.push(cluster);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return answered("same");
    };
    const names = clusterNames(500);

    const outcomes = await askFleet(names.map(aTarget), ask, options);

    assert.equal(most, parallelPlans);
    assert.deepEqual(asked.toSorted(), names);
    assert.equal(outcomes.size, 500);
  });

  test("ends when its signal aborts", async () => {
    const ending = new AbortController();
    const { ask } = agents(() => {
      ending.abort(new Error("the client is gone"));
      return answered("same");
    });

    await assert.rejects(
      askFleet(clusterNames(3).map(aTarget), ask, { ...options, signal: ending.signal }),
      /the client is gone/,
    );
  });

  test("asks one cluster of each group for the text, after all have answered", async () => {
    const { ask, asked } = agents((cluster, { withText }) =>
      answered(cluster < "ns/c0003" ? "image" : "replicas", withText ? `text of ${cluster}` : ""),
    );

    const { texts } = await planFleet(clusterNames(5).map(candidate), ask, options);

    assert.deepEqual(
      asked.slice(5).map(([cluster, withText]) => [cluster, withText]),
      [
        ["ns/c0000", true],
        ["ns/c0003", true],
      ],
    );
    assert.deepEqual(
      [...texts].map(([cluster, { text }]) => [cluster, text]),
      [
        ["ns/c0000", "text of ns/c0000"],
        ["ns/c0003", "text of ns/c0003"],
      ],
    );
  });

  test("takes the text of another cluster where the first one has another diff by then", async () => {
    const { ask } = agents((cluster, { withText }) =>
      answered(withText && cluster === "ns/c0000" ? "changed since" : "image", cluster),
    );

    const { texts } = await planFleet(clusterNames(3).map(candidate), ask, options);

    assert.equal(texts.get("ns/c0000")?.text, "ns/c0001");
  });

  test("keeps 1 MiB of texts at most, and leaves out the others", async () => {
    const text = "x".repeat(60 * 1024);
    const { ask } = agents((cluster) => answered(cluster, text));

    const { groups, texts } = await planFleet(clusterNames(40).map(candidate), ask, options);

    assert.equal(groups.length, 40);
    assert.equal(texts.size, 17);
  });

  test("does not ask for what is known already", async () => {
    const { ask, asked } = agents(() => answered("image"));
    const plan = known("first", { result: "install" });

    const { groups } = await planFleet(
      [{ cluster: "ns/new", stage: undefined, kind: "", plan }],
      ask,
      options,
    );

    assert.deepEqual(asked, []);
    assert.equal(groups[0]?.result.result, "install");
  });
});
