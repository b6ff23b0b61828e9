/** The examples of the documentation: the API server takes each as it is written, and the hub accepts it. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { validateRelease } from "@flotilla/hub/frontends";
import { ignoredFieldRemarks, releaseOfHelmOp, unknownFieldRemarks } from "@flotilla/hub/rules";
import type { HelmOp } from "@flotilla/shared/api";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Program } from "../harness/program.ts";

const docs = join(import.meta.dirname, "../../../docs");
const pages = ["gates", "mappings", "policies", "release-options", "rollouts", "schedules"];

/** What comes before an example that is a part of a HelmOp. */
const helmOpLines = [
  "apiVersion: fleet.cattle.io/v1alpha1",
  "kind: HelmOp",
  "metadata: {name: web, namespace: fleet-default}",
  "spec:",
  "  helm: {repo: https://charts.example.com, chart: web}",
  "  rolloutStrategy:",
  "    stages:",
  "    - name: all",
];

/** How many of these lines, by how the example begins. */
const linesBefore = [
  [/^apiVersion: /, 0],
  [/^spec:\n/, 3],
  [/^ {2}rolloutStrategy:\n/, 5],
  [/^ {4}stages:\n/, 6],
  [/^ {4}- name: /, 7],
  [/^ {6}before: /, 8],
] as const;

interface Example {
  readonly page: string;
  /** Counted from 1. */
  readonly line: number;
  readonly objects: readonly WrittenObject[];
}

type WrittenObject = KubeObject & { readonly spec?: unknown };

async function examplesOf(page: string): Promise<readonly Example[]> {
  const text = await readFile(join(docs, `${page}.md`), "utf8");
  return [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(({ index, 1: block = "" }) => {
    const line = text.slice(0, index).split("\n").length;
    const [, count] = linesBefore.find(([begin]) => begin.test(block)) ?? [];
    assert.ok(
      count !== undefined,
      `docs/${page}.md:${line} begins as no object and no part of one`,
    );
    const whole = [...helmOpLines.slice(0, count), block].join("\n");
    return { page, line, objects: parseAllDocuments(whole).map((each) => each.toJS()) };
  });
}

/** `kubectl` talks to an API server with the CRDs. */
export async function documentedObjectsApply(kubectl: Program): Promise<void> {
  const examples = (await Promise.all(pages.map(examplesOf))).flat();
  const objects = examples.flatMap((example) => example.objects);
  for (const namespace of new Set(objects.map(({ metadata }) => metadata.namespace)))
    await kubectl(["create", "namespace", namespace ?? ""]);

  for (const example of examples)
    test(`the API server takes the example in docs/${example.page}.md, line ${example.line}, as it is written`, async () => {
      for (const object of example.objects) {
        const { code, stdout, stderr } = await kubectl(
          ["apply", "--server-side", "--dry-run=server", "-o", "json", "-f", "-"],
          JSON.stringify(object),
        );

        assert.deepEqual([code, stderr], [0, ""]);
        const { spec }: WrittenObject = JSON.parse(stdout);
        assert.deepEqual(spec, object.spec);
      }
    });

  test("the hub accepts each HelmOp of the examples, and uses all its fields", () => {
    const found = examples.flatMap(({ page, line, objects }) =>
      objects
        .filter(({ kind }) => kind === "HelmOp")
        .map((object) => ({ place: `docs/${page}.md:${line}`, helmOp: object as HelmOp })),
    );
    assert.ok(found.length > 10);
    for (const { place, helmOp } of found) {
      const spec = { helm: { repo: "https://charts.example.com", chart: "web" }, ...helmOp.spec };
      assert.equal(validateRelease(releaseOfHelmOp({ ...helmOp, spec })), undefined, place);
      assert.deepEqual(unknownFieldRemarks(helmOp), [], place);
      assert.deepEqual(ignoredFieldRemarks(spec), [], place);
    }
  });
}
