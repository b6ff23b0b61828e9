/** The errors of Helm for invalid manifests: the same with and without the OpenAPI documents of the API server. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRunHelm, helmErrorOf, upgradeArgs, upgradeOptions } from "@flotilla/agent/helm";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { plainContent } from "@flotilla/shared/content/testing";
import { afterAll, describe, it } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { leaseControlPlane } from "../harness/control-planes.ts";

const { helm } = await ensureBinaries(["helm"]);
const plane = await leaseControlPlane("hub");
const dir = await testDir({ onTestFinished: afterAll });
const runHelm = createRunHelm({
  path: helm,
  environment: { HOME: dir, KUBECONFIG: plane.kubeconfig },
});
const { signal } = new AbortController();

/** The result of an install as the agent runs it, with or without the flag that disables validation. */
async function answerTo(chartPath: string, isValidating: boolean): Promise<string> {
  const content = {
    ...plainContent,
    releaseName: isValidating ? "one" : "two",
    namespace: "default",
    ...(isValidating && { actions: { install: { disableOpenAPIValidation: false } } }),
  };
  const args = upgradeArgs({
    content,
    options: upgradeOptions(content, true),
    hasValues: false,
    owner: { name: "wrong", uid: "u" },
    digest: "d",
    revision: 1,
    chartPath,
    chartDigest: `sha256:${"0".repeat(64)}`,
    isRolledBackByHelm: false,
    waits: false,
  });
  const result = await runHelm({ args, signal });
  return result.code === 0 ? "installed" : helmErrorOf(result);
}

const cases: readonly (readonly [what: string, manifest: string, answer: RegExp])[] = [
  [
    "an unknown field",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndatas: {a: b}\n",
    /\.datas: field not declared in schema/,
  ],
  [
    "a field of another type",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 3}\n",
    /\.data\.a: expected string/,
  ],
  [
    "a field that is missing",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1}\n",
    /spec\.selector: Required value/,
  ],
  [
    "a kind that the cluster does not know",
    "apiVersion: v1\nkind: Nope\nmetadata: {name: a}\n",
    /no matches for kind "Nope"/,
  ],
];

describe("a chart is rejected with the same message with and without Helm's own validation", () => {
  for (const [what, manifest, answer] of cases) {
    it(`for ${what}`, async () => {
      const chart = await chartArchive({
        name: "wrong",
        version: "1.0.0",
        templates: { "a.yaml": manifest },
      });
      const path = join(dir, "wrong.tgz");
      await writeFile(path, chart.bytes);

      const validated = await answerTo(path, true);
      const unvalidated = await answerTo(path, false);

      assert.match(validated, answer);
      assert.equal(unvalidated, validated);
    });
  }
});
