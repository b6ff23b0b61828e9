import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { plainContent as content } from "@flotilla/shared/content/testing";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { pack } from "tar-stream";
import { afterAll, describe, test } from "vitest";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import { readChartCalls } from "./chart-calls.ts";
import { callsInValues } from "./template-calls.ts";
import { createTemplateGuard, type ReadCalls } from "./template-guard.ts";

/** In this process. */
const read: ReadCalls = {
  inChart: readChartCalls,
  inValues: (values) => Promise.resolve(callsInValues(values, "the values")),
};

const dir = await mkdtemp(join(tmpdir(), "flotilla-charts-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

const rest = createMemoryApiServer();
const agentClient: ImpersonatedClient = {
  subject: "the agent itself",
  isAgent: true,
  rest,
  helmArgs: [],
  watch: { subject: "the agent", rest, isPerNamespace: false },
};
const accountClient: ImpersonatedClient = {
  ...agentClient,
  subject: "service account a/b",
  isAgent: false,
};

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

  test("a chart that reads the cluster with the agent's rights is rejected, with the template's name", async () => {
    const chart = await chartOf(await archive({ "app/templates/a.yaml": reads }));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart, client: agentClient }), {
      code: "TEMPLATES_DENIED",
      message: /^render release shop\/app: app\/templates\/a\.yaml calls lookup/,
    });
    await check({ content, chart, client: accountClient });
    await check({
      content: { ...content, helm: { ...content.helm, disableLookup: false } },
      chart,
      client: agentClient,
    });
  });

  for (const path of [
    "app\\templates\\a.yaml",
    "app/./templates/a.yaml",
    "app/other/../templates/a.yaml",
    "app/charts/./sub/templates/a.yaml",
    "/templates/a.yaml",
  ]) {
    test(`a template at ${path} is found, because Helm finds it`, async () => {
      const chart = await chartOf(await archive({ [path]: reads }));

      await assert.rejects(createTemplateGuard(read)({ content, chart, client: agentClient }), {
        code: "TEMPLATES_DENIED",
      });
    });
  }

  test("a template is found with any entry type in the archive", async () => {
    const chart = await chartOf(
      await archive({ "app/templates/a.yaml": reads }, "contiguous-file"),
    );

    await assert.rejects(createTemplateGuard(read)({ content, chart, client: agentClient }), {
      code: "TEMPLATES_DENIED",
    });
  });

  test("subcharts are checked, packed or not", async () => {
    const inner = await archive({ "sub/templates/a.yaml": reads });
    const packed = await chartOf(await archive({ "app/charts/sub-1.tgz": inner }));
    const unpacked = await chartOf(await archive({ "app/charts/sub/templates/a.yaml": reads }));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart: packed, client: agentClient }), {
      message: /app\/charts\/sub-1\.tgz!\/sub\/templates\/a\.yaml calls lookup/,
    });
    await assert.rejects(check({ content, chart: unpacked, client: agentClient }), {
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
      createTemplateGuard(read)({ content, chart, client: agentClient, values: { text: reads } }),
    );
  });

  test("values are checked if the chart renders them", async () => {
    const renders = "{{ tpl .Values.text . }}";
    const own = await chartOf(
      await archive({ "app/values.yaml": `text: ${reads}`, "app/templates/a.yaml": renders }),
    );
    const given = await chartOf(await archive({ "app/templates/a.yaml": renders }));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart: own, client: agentClient }), {
      message: /app\/values\.yaml calls lookup/,
    });
    await assert.rejects(
      check({ content, chart: given, client: agentClient, values: { text: reads } }),
      {
        message: /the values calls? lookup/,
      },
    );
    await check({ content, chart: given, client: agentClient, values: { text: "plain" } });
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

    await assert.rejects(check({ content, chart: quoted, client: agentClient }), {
      message: /app\/values\.yaml calls lookup/,
    });
    await check({ content, chart: commented, client: agentClient });
    await assert.rejects(
      check({ content, chart: commented, client: agentClient, values: { list: [{ [text]: 1 }] } }),
      { message: /the values calls lookup/ },
    );
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

    await assert.rejects(check({ content, chart: rendered, client: agentClient }), {
      message: /app\/files\/a\.tpl calls lookup/,
    });
    await check({ content, chart: shown, client: agentClient });
  });

  test("an archive that cannot be read is rejected, and is read again by the next check", async () => {
    const chart = await chartOf(Buffer.from("nonsense"));
    const check = createTemplateGuard(read);

    await assert.rejects(check({ content, chart, client: accountClient }), {
      code: "CHART_UNREADABLE",
      message: new RegExp(`^read the templates in the archive ${chart.digest}: `),
    });
    await writeFile(chart.path, await archive({ "app/templates/a.yaml": "a: b" }));
    await check({ content, chart, client: accountClient });
  });
});
