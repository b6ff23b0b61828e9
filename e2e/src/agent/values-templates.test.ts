/** Values with templates, rendered by Helm on the agent, beside what Go gives when it renders them as Fleet does. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { createRunHelm } from "@flotilla/agent/helm/run-helm.ts";
import { createRenderValues, type ValuesTemplates } from "@flotilla/agent/values/render-values.ts";
import { rowFacts } from "@flotilla/agent/values/testing/rows.ts";
import { ensureBinaries } from "@flotilla/local/binaries/ensure-binaries.ts";
import { testDir } from "@flotilla/local/testing/test-parts.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { readGolden } from "@flotilla/shared/version/testing/golden-file.ts";

const dir = await testDir({ after });
const { helm } = await ensureBinaries(["helm"]);
const renderValues = createRenderValues({
  runHelm: createRunHelm({ path: helm, environment: { HOME: dir } }),
  dir,
});
const { signal } = new AbortController();

async function ours(content: Omit<ValuesTemplates, "valuesAreTemplates">): Promise<string> {
  try {
    return JSON.stringify(
      await renderValues({ ...content, valuesAreTemplates: true }, rowFacts, { signal }),
    );
  } catch (thrown) {
    return `refused: ${AppError.from(thrown).message}`;
  }
}

suite("x", () => {
  test("y", async () => {
    const { questions, answers } = await readGolden("values-rows");
    for (const [at, question] of (questions.values ?? []).entries()) {
      const answer = answers.values?.[at];
      const got = await ours(question);
      const norm = answer?.json === undefined ? "refused" : JSON.stringify(JSON.parse(answer.json));
      if (norm !== got && !(norm === "refused" && got.startsWith("refused")))
        console.log(
          JSON.stringify(question),
          "\n   OURS",
          got,
          "\n   GO  ",
          norm,
          answer?.error ?? "",
        );
    }
  });
});
