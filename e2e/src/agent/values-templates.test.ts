/** Values with templates, rendered by Helm on the agent, beside what Go gives when it renders them as Fleet does. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { createRunHelm } from "@flotilla/agent/helm/run-helm.ts";
import {
  createRenderValues,
  type RenderValues,
  type ValuesTemplates,
} from "@flotilla/agent/values/render-values.ts";
import { templateText } from "@flotilla/agent/values/testing/arbitraries.ts";
import { rowContext, rowFacts } from "@flotilla/agent/values/testing/rows.ts";
import { ensureBinaries } from "@flotilla/local/binaries/ensure-binaries.ts";
import { testDir } from "@flotilla/local/testing/test-parts.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { canonicalJson } from "@flotilla/shared/json/exact.ts";
import { readGolden } from "@flotilla/shared/version/testing/golden-file.ts";
import {
  type Answers,
  buildOracle,
  type ValuesQuestion,
} from "@flotilla/shared/version/testing/oracle.ts";
import * as fc from "fast-check";

const dir = await testDir({ after });
const { helm } = await ensureBinaries(["helm"]);
const renderValues = rendererWith({ HOME: dir });
const { signal } = new AbortController();

function rendererWith(environment: Readonly<Record<string, string>>): RenderValues {
  return createRenderValues({ runHelm: createRunHelm({ path: helm, environment }), dir });
}

type Content = Omit<ValuesTemplates, "valuesAreTemplates">;
type Answer = NonNullable<Answers["values"]>[number];

async function render(content: Content): Promise<Readonly<Record<string, unknown>>> {
  return (await renderValues({ ...content, valuesAreTemplates: true }, rowFacts, { signal })) ?? {};
}

async function outcome(content: Content): Promise<string> {
  try {
    return canonicalJson(await render(content));
  } catch (thrown) {
    const { code, message } = AppError.from(thrown);
    return code === "VALUES_TEMPLATE_FAILED" ? "refused" : message;
  }
}

interface Row {
  readonly name: string;
  readonly question: ValuesQuestion;
  readonly answer: Answer;
}

/** Where ours differ from Go's. */
async function disagreements(
  questions: readonly ValuesQuestion[],
  answers: readonly Answer[],
): Promise<readonly string[]> {
  const rows = questions.map((question, at) => ({
    name: `row${at}`,
    question,
    answer: answers[at] ?? {},
  }));
  const found = [...(await misread(rows.filter(({ answer }) => answer.json !== undefined)))];
  for (const { question, answer } of rows.filter(({ answer: { error } }) => error !== undefined)) {
    const ours = await outcome(question);
    if (ours !== "refused") found.push(`${said(question)}: ours ${ours}, Go's ${answer.error}`);
  }
  return found;
}

/** Of what Go renders: one start of Helm for all of it, as long as ours renders it too. */
async function misread(rows: readonly Row[]): Promise<readonly string[]> {
  try {
    const rendered = await render(together(rows));
    return rows.flatMap(({ name, question, answer }) => {
      const computed = Object.keys(question.templateValues ?? {}).map(
        (key) => [key, rendered[`${name} ${key}`]] as const,
      );
      const inValues = rendered[name];
      const ours = canonicalJson({
        ...(typeof inValues === "object" ? inValues : {}),
        ...Object.fromEntries(computed),
      });
      const theirs = canonicalJson(JSON.parse(answer.json ?? ""));
      return ours === theirs ? [] : [`${said(question)}: ours ${ours}, Go's ${theirs}`];
    });
  } catch (thrown) {
    const [only, ...others] = rows;
    if (only !== undefined && others.length === 0)
      return [`${said(only.question)}: ${AppError.from(thrown).message}, Go's ${only.answer.json}`];
    const middle = Math.ceil(rows.length / 2);
    return [...(await misread(rows.slice(0, middle))), ...(await misread(rows.slice(middle)))];
  }
}

function together(rows: readonly Row[]): Content {
  return {
    values: Object.fromEntries(rows.map(({ name, question }) => [name, question.values ?? {}])),
    templateValues: Object.fromEntries(
      rows.flatMap(({ name, question }) =>
        Object.entries(question.templateValues ?? {}).map(([key, text]) => [
          `${name} ${key}`,
          text,
        ]),
      ),
    ),
  };
}

function said({ context: _, ...question }: ValuesQuestion): string {
  return JSON.stringify(question);
}

suite("values with templates", () => {
  test("are what Go makes of them, and refused where Go refuses them", async () => {
    const { questions, answers } = await readGolden("values-rows");
    const asked = questions.values ?? [];

    assert.ok(asked.length > 300);
    assert.deepEqual(await disagreements(asked, answers.values ?? []), []);
  });

  test("are what Go makes of them, at random", { timeout: 60_000 }, async (t) => {
    await using oracle = await buildOracle();
    if (oracle.kind === "missing") return t.skip(oracle.why);
    const seed = Number(process.env["FLOTILLA_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`FLOTILLA_SEED=${seed}`);
    const asked = fc
      .sample(templateText, { seed, numRuns: 600 })
      .map((v) => ({ values: { v }, context: rowContext }));
    const { values: answers = [] } = await oracle.ask({ values: asked });
    // Each of those that are refused is a start of Helm.
    const refused = answers.flatMap(({ error }, at) => (error === undefined ? [] : [at])).slice(20);
    const kept = asked.map((_, at) => at).filter((at) => !refused.includes(at));

    const found = await disagreements(
      kept.map((at) => asked[at] ?? { values: {} }),
      kept.map((at) => answers[at] ?? {}),
    );

    assert.deepEqual(found, [], `with FLOTILLA_SEED=${seed}`);
  });
});
