/** Values with templates, rendered by Helm on the agent, compared with Go, which renders them as Fleet does. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createLimitRecords } from "@flotilla/agent/base";
import { createRunHelm } from "@flotilla/agent/helm";
import {
  createRenderValues,
  type RenderValues,
  type ValuesTemplates,
} from "@flotilla/agent/inputs";
import {
  readTemplatesHere,
  rowClusterInfo,
  rowContext,
  templateText,
} from "@flotilla/agent/values/testing";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { AppError } from "@flotilla/shared/errors";
import { canonicalJson } from "@flotilla/shared/json";
import { silentLog } from "@flotilla/shared/log";
import { seed } from "@flotilla/shared/testing";
import { systemClock } from "@flotilla/shared/time";
import {
  type Answers,
  buildOracle,
  readGolden,
  type ValuesQuestion,
} from "@flotilla/shared/version/testing";
import * as fc from "fast-check";
import { afterAll, describe, test } from "vitest";

const dir = await testDir({ onTestFinished: afterAll });
const { helm } = await ensureBinaries(["helm"]);
const limitRecords = createLimitRecords({
  secrets: {
    list: () => Promise.resolve([]),
    write: () => Promise.resolve(),
    remove: () => Promise.resolve(),
  },
  clock: systemClock,
  log: silentLog(),
});
const renderValues = rendererWith({ HOME: dir });
const { signal } = new AbortController();

function rendererWith(environment: Readonly<Record<string, string>>): RenderValues {
  return createRenderValues({
    readTemplates: readTemplatesHere,
    runHelm: createRunHelm({ path: helm, environment }),
    dir,
    limitRecords,
  });
}

type Content = Omit<ValuesTemplates, "valuesAreTemplates">;
type Answer = NonNullable<Answers["values"]>[number];

async function render(content: Content): Promise<Readonly<Record<string, unknown>>> {
  return (
    (await renderValues({ ...content, valuesAreTemplates: true }, rowClusterInfo, { signal })) ?? {}
  );
}

async function outcome(content: Content): Promise<string> {
  try {
    return canonicalJson(await render(content));
  } catch (thrown) {
    const { code, message } = AppError.from(thrown);
    return code === "VALUES_TEMPLATE_FAILED" ? "rejected" : message;
  }
}

interface Row {
  readonly name: string;
  readonly question: ValuesQuestion;
  readonly answer: Answer;
}

/** Differences from Go. */
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
    if (ours !== "rejected")
      found.push(`${describeQuestion(question)}: ours ${ours}, Go's ${answer.error}`);
  }
  return found;
}

/** What Go renders is rendered by one run of Helm, as long as ours renders it too. */
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
      return ours === theirs ? [] : [`${describeQuestion(question)}: ours ${ours}, Go's ${theirs}`];
    });
  } catch (thrown) {
    const [only, ...others] = rows;
    if (only !== undefined && others.length === 0)
      return [
        `${describeQuestion(only.question)}: ${AppError.from(thrown).message}, Go's ${only.answer.json}`,
      ];
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

function describeQuestion({ context: _, ...question }: ValuesQuestion): string {
  return JSON.stringify(question);
}

/** Where Fleet fails or has an unintended result. */
const differences: readonly (readonly [what: string, text: string, value: unknown])[] = [
  ["a template may trim at the beginning of a value", "${- .ClusterValues.size }", 3],
  ["a quote stays in what Go writes in quotes", " ${ .ClusterAnnotations.quote }", ` it's "so"`],
  ["so do texts in a template there", 'a\t${ print "b" }', "a\tb"],
  ["and line ends", "# ${ .ClusterAnnotations.lines }", "# one\ntwo"],
  ["and line ends in a block", "x:\n  ${ .ClusterAnnotations.lines }", "x:\n  one\ntwo"],
  ["null is null and no text <no value>", "${ .ClusterValues.nothing }", null],
  ["and nothing within a text", "a${ index .ClusterLabels `gone` }b", "ab"],
];

const rejections: readonly (readonly [text: string, why: string])[] = [
  ["${ .ClusterLabels.gone }", String.raw`there is no \.ClusterLabels\.gone`],
  ["${ $.ClusterValues.gone.key }", String.raw`there is no \$\.ClusterValues\.gone`],
  ["${ (dict).key }", String.raw`there is no \(…\)\.key`],
  ["${ with .ClusterValues }${ .gone }${ end }", String.raw`there is no \.gone`],
  ["${ .ClusterName.x }", "can't evaluate field x in type .*"],
  ["${ atoi .ClusterLabels }", "wrong type for value; .*"],
  ['${ fail "not here" }', "not here"],
  ["${ nosuch }", 'function "nosuch" not defined'],
  ["${ if }${ end }", "missing value for if"],
  ["${ .ClusterAnnotations.colon }", "its result is not YAML: .*"],
  ["${ tpl }", "it calls tpl, which is not available in values"],
  ["${ if true }", ".* does not span several"],
];

function kubeconfigFor(server: string): unknown {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "c", user: {} }],
    contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
  };
}

describe("values with templates", () => {
  test("have the result of Go, and are rejected where Go rejects them", async () => {
    const { questions, answers } = await readGolden("values-rows");
    const asked = questions.values ?? [];

    assert.ok(asked.length > 300);
    assert.deepEqual(await disagreements(asked, answers.values ?? []), []);
  });

  test("have the result of Go, at random", async (t) => {
    await using oracle = await buildOracle();
    if (oracle.kind === "missing") return t.skip(oracle.why);
    await t.annotate(`FLOTILLA_SEED=${seed}`);
    const asked = fc
      .sample(templateText, { seed, numRuns: 600 })
      .map((v) => ({ values: { v }, context: rowContext }));
    const { values: answers = [] } = await oracle.ask({ values: asked });
    // Each rejected one is a run of Helm.
    const rejected = answers
      .flatMap(({ error }, at) => (error === undefined ? [] : [at]))
      .slice(20);
    const accepted = asked.map((_, at) => at).filter((at) => !rejected.includes(at));

    const found = await disagreements(
      accepted.map((at) => asked[at] ?? { values: {} }),
      accepted.map((at) => answers[at] ?? {}),
    );

    assert.deepEqual(found, [], `with FLOTILLA_SEED=${seed}`);
  });

  for (const [what, text, expected] of differences) {
    test(`unlike in Fleet, ${what}`, async () => {
      assert.deepEqual(await render({ values: { v: text } }), { v: expected });
    });
  }

  test("use cluster info as data, never as a template", async () => {
    const hostile = [
      '{{ fail "x" }}',
      "{{ .Values }}{{ end }}",
      "${ .ClusterName }",
      '"}}{{ "',
      "`\\n'\"",
      "---\nrendered: Zm9v",
      "\u0000\u2028",
    ];

    for (const label of hostile) {
      const rendered = await renderValues(
        {
          values: {
            quoted: " ${ .ClusterLabels.x }",
            json: "${ .ClusterLabels.x | toJson }",
            label: "global.fleet.clusterLabels.x",
            key: { "# ${ .ClusterLabels.x }": true },
          },
          templateValues: { computed: "a: ${ .ClusterLabels.x | toJson }" },
          valuesAreTemplates: true,
        },
        { ...rowClusterInfo, labels: { x: label } },
        { signal },
      );

      assert.deepEqual(rendered, {
        quoted: ` ${label}`,
        json: label,
        label,
        key: { [`# ${label}`]: true },
        computed: { a: label },
      });
    }
  });

  test("change no other value", async () => {
    const info = { ...rowClusterInfo, annotations: { x: "a\nadmin: true", y: "a\n---\nb: c" } };
    for (const text of ["${ .ClusterAnnotations.x }", "${ .ClusterAnnotations.y }"])
      for (const values of [{ v: text }, { v: [text] }, { v: { [text]: 1 } }])
        await assert.rejects(renderValues({ values, valuesAreTemplates: true }, info, { signal }), {
          code: "VALUES_TEMPLATE_FAILED",
        });
  });

  test("that are rejected report their place and the error", async () => {
    const place = String.raw`render the template values\.a\[1\]\["b c"\] for cluster fleet-default/paris`;
    for (const [text, why] of rejections) {
      await assert.rejects(
        render({ values: { good: "${ .ClusterName }", a: [0, { "b c": text }], z: "${ 1 }" } }),
        {
          code: "VALUES_TEMPLATE_FAILED",
          message: new RegExp(`^${place}: ${why}; rendered again`),
        },
      );
    }
  });

  test("are rendered without requests to the cluster, in one run of Helm", async (t) => {
    let asked = 0;
    const cluster = createServer((_, response) => {
      asked += 1;
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => cluster.listen(0, "127.0.0.1", resolve));
    t.onTestFinished(() => void cluster.close());
    const { port } = cluster.address() as AddressInfo; // A server that listens on a port has one.
    const kubeconfig = join(dir, "kubeconfig");
    await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(`http://127.0.0.1:${port}`)));
    const runHelm = createRunHelm({
      path: helm,
      environment: { HOME: dir, KUBECONFIG: kubeconfig },
    });
    const took: number[] = [];
    const renders = createRenderValues({
      readTemplates: readTemplatesHere,
      runHelm: async (run) => {
        const start = performance.now();
        const result = await runHelm(run);
        took.push(performance.now() - start);
        return result;
      },
      dir,
      limitRecords,
    });
    const values = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`v${at}`, `${at} \${ .ClusterName }`]),
    );

    const rendered = await renders({ values, valuesAreTemplates: true }, rowClusterInfo, {
      signal,
    });

    assert.equal(rendered?.["v199"], "199 paris");
    assert.equal(took.length, 1);
    assert.equal(asked, 0);
    await t.annotate(`one start of Helm for 200 templates took ${took.map(Math.round).join()} ms`);
  });
});
