import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { contentDigest, type StoredRelease } from "../../helm/record/stored-release.ts";
import { readRecordsHere } from "../../helm/record/testing/index.ts";
import { keylessEntry, keylessMessage } from "./keyless-entries.ts";

const refused =
  "Error: UPGRADE FAILED: failed to create patch: map: map[] does not contain declared merge key: name\n";
const secretsOf = (secrets: string, apiVersion = "apps/v1") =>
  `apiVersion: ${apiVersion}\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {imagePullSecrets: ${secrets}, containers: [{name: web}]}}}\n`;
const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n";

function record(revision: number, status: string, manifest: string): StoredRelease {
  return {
    ...{ namespace: "shop", name: "web", revision, status, manifest },
    ...{ content: contentDigest(manifest, []), tests: [], hooks: [] },
    ...{ chartName: "web", chartVersion: "1.0.0", appVersion: "" },
  };
}

/** `records`: newest first. */
function messageFor(records: readonly StoredRelease[], stderr = refused) {
  const stored = { readAll: () => Promise.resolve(records) };
  const deps = { stored, records: readRecordsHere, log: silentLog() };
  return keylessMessage(deps, { namespace: "shop", name: "web" }, stderr);
}

const sentence = (revision: number, index: number) =>
  `a patch by the client cannot change Deployment shop/web, because spec.template.spec.imagePullSecrets[${index}] has no name in revision ${revision}, by which the list is merged; leave spec.template.spec.imagePullSecrets out of the chart for one upgrade, and give each entry its name then`;

describe("a patch that cannot be made for an entry without its key", () => {
  test.each([
    ["whose name is null", "[{name: }]", 0],
    ["whose name is empty", '[{name: a}, {name: ""}]', 1],
    ["without a name", "[{name: a}, {}]", 1],
  ] as const)("names object and list of an entry %s", async (_, list, index) => {
    const failed = record(3, "failed", `---\n${config}---\n${secretsOf(list)}`);

    assert.equal(await messageFor([failed, record(2, "deployed", config)]), sentence(3, index));
  });

  test("names them where only the deployed revision has the entry", async () => {
    const records = [
      record(4, "failed", secretsOf("[{name: a}]")),
      record(3, "failed", secretsOf("[]")),
      record(2, "deployed", secretsOf("[{name: }]")),
    ];

    assert.equal(await messageFor(records), sentence(2, 0));
  });

  test("is Helm's message where no record has one", async () => {
    assert.equal(await messageFor([record(2, "failed", secretsOf("[{name: a}]"))]), undefined);
    assert.equal(await messageFor([]), undefined);
  });

  test("is Helm's message where the records cannot be read", async () => {
    const stored = { readAll: () => Promise.reject(new Error("lost")) };
    const deps = { stored, records: readRecordsHere, log: silentLog() };
    const release = { namespace: "shop", name: "web" };

    assert.equal(await keylessMessage(deps, release, refused), undefined);
  });

  test("is not looked for after another failure", async () => {
    const failed = record(3, "failed", secretsOf("[{name: }]"));

    assert.equal(await messageFor([failed], "Error: UPGRADE FAILED: timed out"), undefined);
  });

  test("is not of a kind whose lists are replaced as a whole", () => {
    const spec = { imagePullSecrets: [{}] };
    const object: KubeObject & { readonly spec: unknown } = {
      ...{ apiVersion: "example.com/v1", kind: "Car", metadata: { name: "fast" }, spec },
    };

    assert.equal(keylessEntry(object), undefined);
    assert.deepEqual(keylessEntry({ ...object, apiVersion: "apps/v1" }), {
      ...{ list: "spec.imagePullSecrets", index: 0, key: "name" },
    });
  });
});
