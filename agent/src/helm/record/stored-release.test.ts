import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { describe, test } from "vitest";
import {
  changedRelease,
  hasManifestOf,
  isSameContent,
  maxReleaseBytes,
  parseRelease,
  unpackRelease,
  withManifest,
} from "./stored-release.ts";

const plain = '{"name":"web","namespace":"apps","version":3,"info":{"status":"deployed"}}';

function packed(text: string): string {
  return Buffer.from(gzipSync(text).toString("base64")).toString("base64");
}

function unpacked(stored: string): Promise<string | undefined> {
  return unpackRelease(stored, "it", maxReleaseBytes);
}

describe("a stored release", () => {
  test("is unpacked", async () => {
    assert.equal(await unpacked(packed(plain)), plain);
  });

  test("is not unpacked if it decompresses to more than the limit", async () => {
    assert.equal(await unpackRelease(packed(plain), "it", 10), undefined);
  });

  test("is rejected with its name if it cannot be decoded", async () => {
    await assert.rejects(unpackRelease("AAAA", "release Secret apps/web", 10), {
      code: "RELEASE_UNREADABLE",
      message: /^read release Secret apps\/web: /,
    });
  });
});

describe("a changed release", () => {
  const json =
    '{"config":{"big":9007199254740993,"text":"ü"},"info":{"first":"t","status":"pending-upgrade"},"manifest":"a","name":"web","namespace":"apps","version":3}';

  test("that is marked as failed differs only in its status, and keeps exact numbers", async () => {
    assert.equal(
      await unpacked(await changedRelease(json, "it", { failed: "cut off" })),
      json.replace(
        '{"first":"t","status":"pending-upgrade"}',
        '{"description":"cut off","first":"t","status":"failed"}',
      ),
    );
  });

  test("with another manifest differs only in that, and keeps exact numbers", async () => {
    assert.equal(
      await unpacked(await changedRelease(json, "it", { manifest: "b\n" })),
      json.replace('"a"', '"b\\n"'),
    );
  });

  test("has its hooks without those whose kind is gone, and with others in another version", async () => {
    const hook = (name: string, apiVersion: string, kind: string) => {
      const manifest = `# Source: a.yaml\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n`;
      return { name, kind, manifest, weight: 9007199254740 };
    };
    const kept = hook("kept", "v1", "ConfigMap");
    const before = [hook("car", "a.example.com/v1", "Car"), hook("bus", "a.example.com/v1", "Bus")];
    const release = { name: "web", manifest: "", hooks: [...before, kept, { name: "none" }] };
    const hookKinds = [
      { apiVersion: "a.example.com/v1", kind: "Car" },
      { apiVersion: "a.example.com/v1", kind: "Bus", servedAs: "a.example.com/v2" },
    ];

    const text = await unpacked(
      await changedRelease(JSON.stringify(release), "it", { manifest: "b", hookKinds }),
    );

    assert.deepEqual(JSON.parse(text ?? ""), {
      ...{ name: "web", manifest: "b" },
      hooks: [hook("bus", "a.example.com/v2", "Bus"), kept, { name: "none" }],
    });
  });
});

describe("a release that Helm has printed", () => {
  test("is parsed", () => {
    const json = JSON.stringify({
      name: "web",
      namespace: "apps",
      version: 3,
      info: { status: "deployed" },
      manifest: "kind: ConfigMap\n",
      chart: { metadata: { name: "web", version: "1.2.3", appVersion: "9" } },
    });

    const { content, ...release } = parseRelease(json, "it");

    assert.match(content, /^[0-9a-f]{64}\.[0-9a-f]{64}\.[0-9a-f]{64}$/);
    assert.deepEqual(release, {
      namespace: "apps",
      name: "web",
      revision: 3,
      status: "deployed",
      manifest: "kind: ConfigMap\n",
      tests: [],
      hooks: [],
      chartName: "web",
      chartVersion: "1.2.3",
      appVersion: "9",
    });
  });

  test("has its tests, with the results of their last runs", () => {
    const run = {
      phase: "Failed",
      started_at: "2026-01-01T00:00:00Z",
      completed_at: "2026-01-01T00:00:05Z",
    };
    const hooks = [
      { name: "smoke", events: ["test"], last_run: run },
      {
        name: "load",
        events: ["test"],
        last_run: { phase: "", started_at: "0001-01-01T00:00:00Z" },
      },
      { name: "migrate", events: ["pre-upgrade"], last_run: run },
    ];

    const { tests } = parseRelease(JSON.stringify({ ...JSON.parse(plain), hooks }), "it");

    assert.deepEqual(tests, [
      {
        ...{ name: "smoke", phase: "Failed" },
        ...{ startedAt: run.started_at, completedAt: run.completed_at },
      },
      { name: "load" },
    ]);
  });

  test("has the same content after its hooks have run, and another one with another hook", () => {
    const releaseWith = (hook: object) =>
      parseRelease(JSON.stringify({ ...JSON.parse(plain), hooks: [hook] }), "it");
    const hook = { name: "h", manifest: "kind: Job\n", events: ["pre-delete"] };
    const before = releaseWith(hook);
    const other = releaseWith({ ...hook, manifest: "kind: Pod\n" });

    assert.equal(
      releaseWith({ ...hook, last_run: { phase: "Succeeded" } }).content,
      before.content,
    );
    assert.notEqual(other.content, before.content);
    assert.ok(hasManifestOf(other.content, before));
    const changed = withManifest(before, "kind: Secret\n");
    assert.ok(!hasManifestOf(changed.content, before));
    assert.deepEqual(withManifest(changed, before.manifest), before);
  });

  test("has the same content after its tests have run, by its own digest and by that of older agents", () => {
    const contentOf = (...hooks: readonly object[]) =>
      parseRelease(JSON.stringify({ ...JSON.parse(plain), hooks }), "it");
    const smoke = { name: "smoke", manifest: "kind: Pod\n", events: ["test"] };
    const load = { ...smoke, name: "load" };
    const before = contentOf(smoke, load);
    const tested = { ...smoke, delete_policies: ["before-hook-creation"], last_run: {} };

    assert.ok(isSameContent(before.content, contentOf(load, tested)));
    assert.ok(!isSameContent(before.content, contentOf(load, { ...tested, manifest: "other" })));
    assert.ok(
      !isSameContent(
        before.content,
        contentOf(smoke, { ...load, delete_policies: ["hook-failed"] }),
      ),
    );
    const older = before.content.split(".").slice(0, 2).join(".");
    assert.ok(isSameContent(older, before));
    assert.ok(!isSameContent(older, contentOf(smoke)));
    assert.ok(!isSameContent(undefined, before));
  });

  test("may have no manifest and no chart", () => {
    assert.equal(parseRelease(plain, "it").manifest, "");
    assert.equal(parseRelease(plain, "it").chartVersion, "");
  });

  for (const json of ["", "Release installed", '{"name":"web"}'])
    test(`is rejected if it is ${JSON.stringify(json)}`, () => {
      assert.throws(() => parseRelease(json, "what helm printed"), /read what helm printed: /);
    });
});
