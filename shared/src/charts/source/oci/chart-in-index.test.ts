import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { digestOf } from "../testing/index.ts";
import { candidates, findChart, type OciIndex } from "./chart-in-index.ts";

const helm = "application/vnd.cncf.helm.config.v1+json";
const content = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const [one, two, image] = [digestOf("one"), digestOf("two"), digestOf("image")];
const linux = { os: "linux", architecture: "amd64" };

function manifest(config: string, layer: string, title?: string): unknown {
  const annotations = title === undefined ? {} : { "org.opencontainers.image.title": title };
  return { config: { mediaType: config }, layers: [{ mediaType: layer }], annotations };
}

const anImage = manifest("application/vnd.oci.image.config.v1+json", "application/tar");

async function find(
  entries: OciIndex["manifests"],
  manifests: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const found = await findChart(
    { manifests: entries },
    { repository: "oci://registry/team/web", name: "web:1.0.0" },
    (digest) => Promise.resolve({ request: digest, json: manifests[digest] }),
  );
  return found?.request;
}

describe("of an index the chart is", () => {
  const rows: readonly (readonly [
    string,
    OciIndex["manifests"],
    Readonly<Record<string, unknown>>,
    string | undefined,
  ])[] = [
    ["none in an empty one", [], {}, undefined],
    ["none of images", [{ digest: image, platform: linux }], { [image]: anImage }, undefined],
    [
      "the entry beside an image",
      [{ digest: image, platform: linux }, { digest: one }],
      { [image]: anImage, [one]: manifest(helm, content) },
      one,
    ],
    [
      "one for a platform",
      [{ digest: one, platform: linux }],
      { [one]: manifest(helm, "application/tar+gzip") },
      one,
    ],
    [
      "no metadata of a chart without the chart",
      [{ digest: one }],
      { [one]: manifest(helm, "application/vnd.cncf.helm.chart.provenance.v1.prov") },
      undefined,
    ],
    ["nothing that is not a manifest", [{ digest: one }], { [one]: "<html>" }, undefined],
    [
      "of several the one with the name of the repository",
      [{ digest: one }, { digest: two }],
      { [one]: manifest(helm, content, "api"), [two]: manifest(helm, content, "web") },
      two,
    ],
  ];
  for (const [name, entries, manifests, expected] of rows)
    test(name, async () => {
      assert.equal(await find(entries, manifests), expected);
    });

  test("none of several that have other names", async () => {
    const manifests = { [one]: manifest(helm, content, "api"), [two]: manifest(helm, content) };

    await assert.rejects(find([{ digest: one }, { digest: two }], manifests), {
      code: "CHART_NOT_FOUND",
      message:
        'web:1.0.0 is an index of 2 charts ("api", ""), of which not exactly one has the title "web": publish one chart under a tag',
    });
  });
});

test("entries that say what they are save reading the others", () => {
  const entry = { digest: one, artifactType: helm };

  assert.deepEqual(candidates({ manifests: [{ digest: image }, entry] }), [one]);
  assert.deepEqual(
    candidates({
      manifests: [
        { digest: image, artifactType: "application/vnd.example" },
        { digest: two, mediaType: "application/vnd.oci.image.index.v1+json" },
        { digest: one },
        { digest: one },
      ],
    }),
    [one],
  );
});

test("of a large index only the first entries are read", () => {
  const manifests = Array.from({ length: 1000 }, (_, at) => ({ digest: digestOf(String(at)) }));

  assert.equal(candidates({ manifests }).length, 16);
});
