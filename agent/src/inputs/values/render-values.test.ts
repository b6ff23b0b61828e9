import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson, parseExact } from "@flotilla/shared/json";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import type { ClusterInfo } from "@flotilla/shared/referenced";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { afterAll, describe, test } from "vitest";
import { createLimitRecords } from "../../base/process/limit-records.ts";
import { createSecretStorage } from "../../base/storage/secret-storage.ts";
import type { HelmResult, HelmRun } from "../../helm/cli/run-helm.ts";
import { createRenderValues, hasTemplates, type ValuesTemplates } from "./render-values.ts";
import { readTemplatesHere } from "./testing/index.ts";

const dir = await mkdtemp(join(tmpdir(), "flotilla-values-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

const paris: ClusterInfo = {
  namespace: "fleet-default",
  name: "paris",
  labels: { region: "eu", "example.com/zone": "a" },
  annotations: {},
  templateValues: { password: "planted" },
};

/** A Helm that returns these strings, or fails with this error, or does not end. */
function rendererWith(answer: readonly string[] | string | "endless", limitMs?: number) {
  const runs: HelmRun[] = [];
  const render = createRenderValues({
    readTemplates: readTemplatesHere,
    runHelm: async (run) => {
      runs.push(run);
      const result: HelmResult = { code: 0, stdout: "", stderr: "" };
      if (answer === "endless") {
        await untilAborted(run.signal);
        return { ...result, code: null };
      }
      if (typeof answer === "string") return { ...result, code: 1, stderr: answer };
      const packed = Buffer.from(JSON.stringify(answer)).toString("base64");
      return {
        ...result,
        stdout: `---\n# Source: values/templates/values.yaml\nrendered: ${packed}\n`,
      };
    },
    dir,
    limitRecords: createLimitRecords({
      secrets: createSecretStorage(createMemoryApiServer()),
      clock: createFakeClock(0),
      log: silentLog(),
    }),
    ...(limitMs !== undefined && { limitMs }),
  });
  return {
    runs,
    render: (content: ValuesTemplates, signal = new AbortController().signal) =>
      render(content, paris, { signal }),
  };
}

/** Keeps the process alive, as a child process does. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(alive);
}

const one: ValuesTemplates = { values: { a: "${ .ClusterName }" }, valuesAreTemplates: true };

describe("values are rendered", () => {
  const rows: readonly (readonly [what: string, content: ValuesTemplates, expected: boolean])[] = [
    ["without values", { valuesAreTemplates: true }, false],
    ["without templates", { values: { a: "{{ b }}" }, valuesAreTemplates: true }, false],
    ["for a template in a string", one, true],
    ["for one in a list", { values: { a: [["${ 1 }"]] }, valuesAreTemplates: true }, true],
    ["for one in a key", { values: { a: { "${ 1 }": 1 } }, valuesAreTemplates: true }, true],
    ["for strings that are not templates", { ...one, valuesAreTemplates: false }, false],
    [
      "for a string that names a cluster label",
      { values: { a: { b: "global.fleet.clusterLabels.x" } }, valuesAreTemplates: false },
      true,
    ],
    ["for templateValues", { templateValues: { a: "b" }, valuesAreTemplates: false }, true],
  ];
  for (const [what, content, expected] of rows) {
    test(`${what}: ${expected ? "yes" : "no"}`, () => {
      assert.equal(hasTemplates(content), expected);
    });
  }
});

describe("rendered values", () => {
  test("are undefined without values", async () => {
    const { render } = rendererWith([]);

    assert.equal(await render({ valuesAreTemplates: true }), undefined);
  });

  test("do not run Helm without templates", async () => {
    const { render, runs } = rendererWith([]);

    assert.deepEqual(
      await render({
        values: { a: "{{ b }}", c: "${ d }" },
        templateValues: { a: "x: on", e: "" },
        valuesAreTemplates: false,
      }),
      { a: { x: true }, c: "${ d }", e: null },
    );
    assert.equal(runs.length, 0);
  });

  test("have cluster labels in place of the strings that name them", async () => {
    const { render, runs } = rendererWith([]);

    assert.deepEqual(
      await render({
        values: {
          a: { b: "global.fleet.clusterLabels.region" },
          c: ["global.fleet.clusterLabels.example.com/zone"],
          d: "global.fleet.clusterLabels.gone",
          e: "global.fleet.clusterLabels.constructor",
          "global.fleet.clusterLabels.region": 1,
        },
        valuesAreTemplates: true,
      }),
      { a: { b: "eu" }, c: ["a"], d: "", e: "", "global.fleet.clusterLabels.region": 1 },
    );
    assert.equal(runs.length, 0);
  });

  test("run Helm once, with all templates on standard input", async () => {
    const { render, runs } = rendererWith(["key", "3", "4", "b: 5"]);

    const rendered = await render({
      values: { "${ .a }": "${ .b }", c: ["${ .c }"], d: 1 },
      templateValues: { d: "${ .d }" },
      valuesAreTemplates: true,
    });

    assert.deepEqual(rendered, { key: 3, c: [4], d: { b: 5 } });
    assert.equal(runs.length, 1);
    assert.match(runs[0]?.stdin ?? "", /planted/);
    assert.deepEqual(runs[0]?.args, ["template", "values", dir, "--values=-"]);
  });

  test("keep exact numbers, keys and nulls", async () => {
    const { render } = rendererWith(["x", "m: 12345678901234567890"]);
    const text = `{"__proto__":{"a":"\${ 1 }"},"big":12345678901234567890,"none":null}`;
    const values = parseExact(text) as Readonly<Record<string, unknown>>; // A map.

    const rendered = await render({
      values,
      templateValues: { t: "${ 2 }" },
      valuesAreTemplates: true,
    });

    assert.equal(
      canonicalJson(rendered),
      `{"__proto__":{"a":"x"},"big":12345678901234567890,"none":null,"t":{"m":12345678901234567890}}`,
    );
  });

  test("are rejected if two keys render to the same key", async () => {
    const { render } = rendererWith(["a"]);

    await assert.rejects(
      render({ values: { x: { "${ .a }": 1, a: 2 } }, valuesAreTemplates: true }),
      {
        code: "VALUES_TEMPLATE_FAILED",
        message: /fleet-default\/paris: two keys of values\.x render to the same key;/,
      },
    );
  });

  test("fail with a retryable error if Helm fails for another reason than a template", async () => {
    const { render, runs } = rendererWith('Error: path "chart" not found\n');

    await assert.rejects(render(one), {
      code: "HELM_FAILED",
      retryable: true,
      message: /path "chart" not found/,
    });
    assert.equal(runs.length, 1);
  });

  test("are rejected if they are larger than a content may be", async () => {
    await assert.rejects(rendererWith(["x".repeat(9 * 1024 * 1024)]).render(one), {
      code: "HELM_FAILED",
      message: /the rendered values have more than 8 MiB$/,
    });
  });

  test("are cancelled by the signal and by the timeout", async () => {
    const given = new AbortController();
    const waiting = rendererWith("endless").render(one, given.signal);
    given.abort();

    await assert.rejects(waiting, { code: "CANCELLED" });
    await assert.rejects(rendererWith("endless", 1).render(one), {
      code: "LIMIT_EXCEEDED",
      message: /helm took more than 0\.001 s and was killed/,
      retryAtMs: 60_000,
    });
  });
});
