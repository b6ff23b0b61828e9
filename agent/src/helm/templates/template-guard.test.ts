import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { plainContent } from "@flotilla/shared/content/testing";
import { pack } from "tar-stream";
import { afterAll, describe, test } from "vitest";
import { readChartCalls } from "./chart-calls.ts";
import { callsInValues } from "./template-calls.ts";
import { createTemplateGuard, type ReadCalls } from "./template-guard.ts";

/** In this process. */
const read: ReadCalls = {
  inChart: readChartCalls,
  inValues: (values) => Promise.resolve(callsInValues(values, "the values")),
};

/** Lookup is disabled, so that a call that is found is rejected. */
const content = { ...plainContent, helm: { ...plainContent.helm, disableLookup: true } };

const dir = await mkdtemp(join(tmpdir(), "flotilla-charts-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

async function archive(
  files: Readonly<Record<string, string | Buffer>>,
  type: "file" | "contiguous-file" = "file",
): Promise<Buffer> {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name, type }, text);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(Buffer.from(chunk as Uint8Array)); // A stream of bytes.
  return gzipSync(Buffer.concat(chunks));
}

let charts = 0;

async function chartOf(bytes: Buffer) {
  charts += 1;
  const path = join(dir, `${charts}.tgz`);
  await writeFile(path, bytes);
  return { path, digest: `sha256:${charts}`, sizeBytes: bytes.length };
}

describe("before Helm renders a chart", () => {
  const reads = '{{ (lookup "v1" "Secret" "other" "s").data }}';

  test("a chart that reads the cluster is rejected with the template's name if lookup is disabled", async () => {
    const chart = await chartOf(await archive({ "app/templates/a.yaml": reads }));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart }), {
      code: "TEMPLATES_DENIED",
      message: /^render release shop\/app: app\/templates\/a\.yaml calls lookup/,
    });
  });

  for (const [what, helm] of [
    ["nothing is said of lookup", {}],
    ["lookup is allowed", { disableLookup: false }],
  ] as const) {
    test(`a chart that reads the cluster, also in its notes, is rendered if ${what}`, async () => {
      const chart = await chartOf(
        await archive({ "app/templates/a.yaml": reads, "app/templates/NOTES.txt": reads }),
      );

      await assert.doesNotReject(
        createTemplateGuard(read)({
          content: { ...plainContent, helm: { ...plainContent.helm, ...helm } },
          chart,
        }),
      );
    });
  }

  for (const path of [
    "app\\templates\\a.yaml",
    "app/./templates/a.yaml",
    "app/other/../templates/a.yaml",
    "app/charts/./sub/templates/a.yaml",
    "/templates/a.yaml",
  ]) {
    test(`a template at ${path} is found, because Helm finds it`, async () => {
      const chart = await chartOf(await archive({ [path]: reads }));

      await assert.rejects(createTemplateGuard(read)({ content, chart }), {
        code: "TEMPLATES_DENIED",
      });
    });
  }

  test("a template is found with any entry type in the archive", async () => {
    const chart = await chartOf(
      await archive({ "app/templates/a.yaml": reads }, "contiguous-file"),
    );

    await assert.rejects(createTemplateGuard(read)({ content, chart }), {
      code: "TEMPLATES_DENIED",
    });
  });

  test("subcharts are checked, packed or not", async () => {
    const inner = await archive({ "sub/templates/a.yaml": reads });
    const packed = await chartOf(await archive({ "app/charts/sub-1.tgz": inner }));
    const unpacked = await chartOf(await archive({ "app/charts/sub/templates/a.yaml": reads }));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart: packed }), {
      message: /app\/charts\/sub-1\.tgz!\/sub\/templates\/a\.yaml calls lookup/,
    });
    await assert.rejects(check({ content, chart: unpacked }), {
      message: /app\/charts\/sub\/templates\/a\.yaml calls lookup/,
    });
  });

  test("other files and values that are not rendered are not checked", async () => {
    const chart = await chartOf(
      await archive({
        "app/README.md": reads,
        "app/files/a.yaml": reads,
        "app/values.yaml": `text: ${reads}`,
        "app/templates/a.yaml": "{{ .Values.text }}",
      }),
    );

    await assert.doesNotReject(
      createTemplateGuard(read)({ content, chart, values: { text: reads } }),
    );
  });

  test("values are checked if the chart renders them", async () => {
    const renders = "{{ tpl .Values.text . }}";
    const own = await chartOf(
      await archive({ "app/values.yaml": `text: ${reads}`, "app/templates/a.yaml": renders }),
    );
    const given = await chartOf(await archive({ "app/templates/a.yaml": renders }));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart: own }), {
      message: /app\/values\.yaml calls lookup/,
    });
    await assert.rejects(check({ content, chart: given, values: { text: reads } }), {
      message: /the values calls? lookup/,
    });
    await check({ content, chart: given, values: { text: "plain" } });
  });

  test("values are checked after parsing, not as text", async () => {
    const renders = "{{ tpl .Values.text . }}";
    const text = '{{ print "a" (lookup "v1" "Secret" "other" "s") }}';
    const quoted = await chartOf(
      await archive({
        "app/values.yaml": `text: ${JSON.stringify(text)}`,
        "app/templates/a.yaml": renders,
      }),
    );
    const commented = await chartOf(
      await archive({
        "app/values.yaml": `# as in ${text}\na: b`,
        "app/templates/a.yaml": renders,
      }),
    );
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart: quoted }), {
      message: /app\/values\.yaml calls lookup/,
    });
    await check({ content, chart: commented });
    await assert.rejects(check({ content, chart: commented, values: { list: [{ [text]: 1 }] } }), {
      message: /the values calls lookup/,
    });
  });

  test("files of the chart are checked if the chart renders them", async () => {
    const file = { "app/files/a.tpl": reads };
    const rendered = await chartOf(
      await archive({ ...file, "app/templates/a.yaml": '{{ tpl (.Files.Get "files/a.tpl") . }}' }),
    );
    const shown = await chartOf(
      await archive({
        ...file,
        "app/templates/a.yaml": '{{ .Files.Get "files/a.tpl" }}{{ include "text" . }}',
        "app/templates/_text.tpl": '{{ define "text" }}{{ .Values.text }}{{ end }}',
      }),
    );
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart: rendered }), {
      message: /app\/files\/a\.tpl calls lookup/,
    });
    await check({ content, chart: shown });
  });

  test("an archive that cannot be read is rejected, and is read again by the next check", async () => {
    const chart = await chartOf(Buffer.from("nonsense"));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart }), {
      code: "CHART_UNREADABLE",
      message: new RegExp(`^read the templates in the archive ${chart.digest}: `),
    });
    await writeFile(chart.path, await archive({ "app/templates/a.yaml": "a: b" }));
    await check({ content, chart });
  });
});

describe("hooks after the installation, for which Helm itself must wait", () => {
  const hooksOf = async (
    template: string,
    more: Partial<Parameters<ReturnType<typeof createTemplateGuard>>[0]> = {},
  ) => {
    const bytes = await archive({
      "app/Chart.yaml": "name: app\n",
      "app/templates/a.yaml": template,
    });
    const chart = await chartOf(bytes);
    return await createTemplateGuard(read)({ content: plainContent, chart, ...more });
  };
  const plain = "kind: ConfigMap\n";

  test("are found in templates, also where their time is computed", async () => {
    const annotation = (value: string) => `metadata: {annotations: {"helm.sh/hook": ${value}}}`;

    assert.deepEqual(await hooksOf(plain), { name: "app", version: "", hasPostHooks: false });
    assert.equal((await hooksOf(annotation("pre-install,test"))).hasPostHooks, false);
    assert.equal((await hooksOf(annotation("post-install"))).hasPostHooks, true);
    assert.equal((await hooksOf(annotation("{{ .Values.when }}"))).hasPostHooks, true);
  });

  test("are found in values and in post-renderers", async () => {
    const values = { extra: { annotations: { "helm.sh/hook": "post-upgrade" } } };
    const patch = '[{op: add, path: /metadata/annotations, value: {"helm.sh/hook": post-install}}]';
    const postRenderers = [{ patches: [{ patch, target: { kind: "Job" } }] }];

    assert.equal((await hooksOf(plain, { values })).hasPostHooks, true);
    const content = { ...plainContent, postRenderers };
    assert.equal((await hooksOf(plain, { content })).hasPostHooks, true);
  });
});
