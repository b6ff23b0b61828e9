import assert from "node:assert/strict";
import { test } from "vitest";
import { buildOracle, readGolden } from "../../charts/version/testing/index.ts";
import { seed } from "../../testing/index.ts";
import { parseHelmYaml, toHelmJson } from "./helm-yaml.ts";
import { randomYaml, yamlDisagreements } from "./testing/index.ts";

for (const name of ["yaml-rows", "yaml-random"]) {
  test(`YAML is parsed as Go parses it (${name})`, async () => {
    const { questions, answers } = await readGolden(name);

    assert.ok(questions.yaml.length > 500);
    assert.deepEqual(
      yamlDisagreements(questions.yaml, answers.yaml ?? [], { rejections: "same" }),
      [],
    );
  });
}

test("YAML is parsed as Go parses it, and so is the JSON that we write of it", async (t) => {
  await using oracle = await buildOracle();
  if (oracle.kind === "missing") return t.skip(oracle.why);
  await t.annotate(`FLOTILLA_SEED=${seed}`);
  const message = `with FLOTILLA_SEED=${seed}`;
  const { right, damaged } = randomYaml(seed, 1500);
  const compare = async (texts: readonly string[], rejections: "same" | "free"): Promise<void> => {
    const { yaml = [] } = await oracle.ask({ yaml: texts });
    assert.deepEqual(yamlDisagreements(texts, yaml, { rejections }), [], message);
  };

  await compare(right, "same");
  await compare(damaged, "free");
  await compare(
    right.map((text) => toHelmJson(parseHelmYaml(text, { name: "values.yaml" }))),
    "same",
  );
});
