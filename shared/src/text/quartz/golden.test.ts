import assert from "node:assert/strict";
import { test } from "vitest";
import { buildOracle, readGolden } from "../../charts/version/testing/index.ts";
import { seed } from "../../testing/index.ts";
import { compareStarts, faults, randomStartsQuestions } from "./testing/index.ts";

for (const name of ["starts-rows", "starts-random"]) {
  test(`schedules start when go-quartz starts them (${name})`, async () => {
    const { questions, answers } = await readGolden(name);
    const { starts = [] } = questions;

    const { disagreements, compared } = compareStarts(starts, answers.starts ?? []);
    assert.deepEqual(disagreements, []);
    assert.ok(compared > 1_500, `${compared} were compared`);
  });
}

test("[1.7] go-quartz still has each fault that is excepted, and nothing else is", async () => {
  const { questions, answers } = await readGolden("starts-rows");

  const { faulty } = compareStarts(questions.starts ?? [], answers.starts ?? []);
  assert.deepEqual([...new Set(faulty)].toSorted(), [...faults].toSorted());
});

test("[1.7] go-quartz is wrong about few of the random questions", async () => {
  const { questions, answers } = await readGolden("starts-random");
  const { starts = [] } = questions;

  const { faulty } = compareStarts(starts, answers.starts ?? []);
  const others = faulty.filter((fault) => fault !== "nearest weekday");
  assert.ok(others.length < starts.length / 50, others.join());
});

test("schedules start when go-quartz starts them, for generated expressions, zones and times", async (t) => {
  await using oracle = await buildOracle();
  if (oracle.kind === "missing") return t.skip(oracle.why);
  await t.annotate(`FLOTILLA_SEED=${seed}`);
  const questions = randomStartsQuestions(seed, 1_000);

  const { starts = [] } = await oracle.ask({ starts: questions });

  const { disagreements } = compareStarts(questions, starts);
  assert.deepEqual(disagreements, [], `with FLOTILLA_SEED=${seed}`);
});
