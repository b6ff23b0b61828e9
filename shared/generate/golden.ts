/** Asks Go again and keeps the answers in shared/golden/generated: `node shared/generate/golden.ts`. Needs Go. */
import {
  buildOracle,
  randomVersionQuestions,
  versionRowQuestions,
  writeGolden,
} from "../src/charts/version/testing/index.ts";
import { randomStartsQuestions, startsRowQuestions } from "../src/text/quartz/testing/index.ts";
import { randomYaml, yamlRows } from "../src/text/yaml/testing/index.ts";

const seed = 20;
const questions = {
  "version-rows": versionRowQuestions(),
  "version-random": randomVersionQuestions(seed, 600),
  "yaml-rows": { yaml: yamlRows() },
  "yaml-random": { yaml: randomYaml(seed, 300).right },
  "starts-rows": { starts: startsRowQuestions() },
  "starts-random": { starts: randomStartsQuestions(seed, 600) },
};

await using oracle = await buildOracle();
if (oracle.kind === "missing") throw new Error(oracle.why);
for (const [name, asked] of Object.entries(questions))
  await writeGolden(name, asked, await oracle.ask(asked));
