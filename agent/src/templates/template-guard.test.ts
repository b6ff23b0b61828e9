import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { plainContent as content } from "@flotilla/shared/content/testing/plain-content.ts";
import { pack } from "tar-stream";
import type { Actor } from "../acting/actors.ts";
import { createMemoryRest } from "../testing/memory-rest.ts";
import { createTemplateGuard } from "./template-guard.ts";

const dir = await mkdtemp(join(tmpdir(), "flotilla-charts-"));
after(() => rm(dir, { recursive: true, force: true }));

const itself: Actor = {
  title: "the agent itself",
  isAgent: true,
  rest: createMemoryRest(),
  helmArgs: [],
};
const account: Actor = { ...itself, title: "service account a/b", isAgent: false };

async function archive(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name }, text);
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

suite("before Helm renders a chart", () => {
  const reads = '{{ (lookup "v1" "Secret" "other" "s").data }}';

  test("one that reads the cluster as the agent is refused by the template's name", async () => {
    const chart = await chartOf(await archive({ "app/templates/a.yaml": reads }));
    const check = createTemplateGuard();

    await assert.rejects(check({ content, chart, actor: itself }), {
      code: "TEMPLATES_REFUSED",
      message: /^render release shop\/app: app\/templates\/a\.yaml calls lookup/,
    });
    await check({ content, chart, actor: account });
    await check({
      content: { ...content, helm: { ...content.helm, disableLookup: false } },
      chart,
      actor: itself,
    });
  });

  test("charts inside it are looked through, packed or not", async () => {
    const inner = await archive({ "sub/templates/a.yaml": reads });
    const packed = await chartOf(await archive({ "app/charts/sub-1.tgz": inner }));
    const unpacked = await chartOf(await archive({ "app/charts/sub/templates/a.yaml": reads }));
    const check = createTemplateGuard();

    await assert.rejects(check({ content, chart: packed, actor: itself }), {
      message: /app\/charts\/sub-1\.tgz!\/sub\/templates\/a\.yaml calls lookup/,
    });
    await assert.rejects(check({ content, chart: unpacked, actor: itself }), {
      message: /app\/charts\/sub\/templates\/a\.yaml calls lookup/,
    });
  });

  test("what is no template counts for nothing", async () => {
    const chart = await chartOf(
      await archive({
        "app/README.md": reads,
        "app/files/a.yaml": reads,
        "app/values.yaml": `text: ${reads}`,
        "app/templates/a.yaml": "{{ .Values.text }}",
      }),
    );

    await createTemplateGuard()({ content, chart, actor: itself, values: reads });
  });

  test("values count where the chart renders them", async () => {
    const renders = "{{ tpl .Values.text . }}";
    const own = await chartOf(
      await archive({ "app/values.yaml": `text: ${reads}`, "app/templates/a.yaml": renders }),
    );
    const given = await chartOf(await archive({ "app/templates/a.yaml": renders }));
    const check = createTemplateGuard();

    await assert.rejects(check({ content, chart: own, actor: itself }), {
      message: /app\/values\.yaml calls lookup/,
    });
    await assert.rejects(check({ content, chart: given, actor: itself, values: reads }), {
      message: /the values calls? lookup/,
    });
    await check({ content, chart: given, actor: itself, values: "text: plain" });
  });

  test("what cannot be read is no chart, and is read anew the next time", async () => {
    const chart = await chartOf(Buffer.from("nonsense"));
    const check = createTemplateGuard();

    await assert.rejects(check({ content, chart, actor: account }), {
      code: "CHART_UNREADABLE",
      message: new RegExp(`^read the templates in the archive ${chart.digest}: `),
    });
    await writeFile(chart.path, await archive({ "app/templates/a.yaml": "a: b" }));
    await check({ content, chart, actor: account });
  });
});
