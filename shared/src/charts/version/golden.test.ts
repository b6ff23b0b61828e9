import assert from "node:assert/strict";
import { test } from "vitest";
import { seed } from "../../testing/index.ts";
import {
  buildOracle,
  randomVersionQuestions,
  readGolden,
  versionDisagreements,
} from "./testing/index.ts";

for (const name of ["version-rows", "version-random"]) {
  test(`versions, constraints and selections are those of Go (${name})`, async () => {
    const { questions, answers } = await readGolden(name);

    assert.ok(questions.constraints.length > 200);
    assert.deepEqual(versionDisagreements(questions, answers), []);
  });
}

test("versions, constraints and selections are those of Go for generated input", async (t) => {
  await using oracle = await buildOracle();
  if (oracle.kind === "missing") return t.skip(oracle.why);
  await t.annotate(`FLOTILLA_SEED=${seed}`);

  const questions = randomVersionQuestions(seed, 4000);
  assert.deepEqual(
    versionDisagreements(questions, await oracle.ask(questions)),
    [],
    `with FLOTILLA_SEED=${seed}`,
  );
});
