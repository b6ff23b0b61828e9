/** The chart client against a real registry with TLS and passwords, and charts that the real Helm has pushed. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startReaper } from "@flotilla/local/process";
import { publishChart, type Registry, runHelm, startRegistry } from "@flotilla/local/registries";
import { testDir } from "@flotilla/local/testing";
import {
  type AccessSettings,
  accessTo,
  archiveDigest,
  classifySource,
} from "@flotilla/shared/source";
import { ChartCache } from "@flotilla/shared/source/cache";
import { createSourceClient } from "@flotilla/shared/source/client";
import { afterAll, describe, it } from "vitest";
import { helmAnswer, rejected } from "./testing/helm-answer.ts";

const user = { username: "me", password: 'a, strange "password"' };
const versions = ["0.1.0", "0.1.1", "0.2.0-rc.1", "1.0.0+build.5"];

const dir = await testDir({ onTestFinished: afterAll });
const binaries = await ensureBinaries(["registry", "helm"]);
const { helm } = binaries;
const reaper = startReaper();
afterAll(() => reaper.release());
const open = await startRegistry({
  name: "open",
  dir: join(dir, "open"),
  binary: binaries.registry,
  reaper,
});
afterAll(() => open.stop());
const guarded = await startRegistry({
  name: "guarded",
  dir: join(dir, "guarded"),
  binary: binaries.registry,
  users: [user],
  tls: true,
  reaper,
});
afterAll(() => guarded.stop());
const ca = guarded.ca ?? assert.fail("the registry has no certificate");
const trusted: AccessSettings = { ...user, caPem: ca.pem };
const client = createSourceClient({ userAgent: "flotilla-test" });
afterAll(() => client.close());

await runHelm(["create", join(dir, "demo")], { helm, home: dir });
const digests = new Map<string, string>();
for (const version of versions) {
  const registry = { repository: `${guarded.oci}/charts`, plainHttp: false, user, caFile: ca.file };
  const { digest } = await publishChart(join(dir, "demo"), { helm, version, to: { registry } });
  digests.set(version, `sha256:${digest}`);
}
await publishChart(join(dir, "demo"), {
  helm,
  version: "0.1.0",
  to: { registry: { repository: `${open.oci}/charts`, plainHttp: true } },
});

function demoAt(registry: Registry, settings: AccessSettings = {}) {
  const source = classifySource({ repo: `${registry.oci}/charts/demo` });
  if (source instanceof Error) throw source;
  return { source, access: accessTo(source, settings) };
}
describe("a real registry", () => {
  it("serves the archive that Helm has pushed, verified by its digest", async () => {
    const { source, access } = demoAt(guarded, trusted);
    const cache = new ChartCache({ fetch: client.fetch }, { dir: join(dir, "cache") });

    const { pin } = await client.resolve(source, "0.1.x", access);
    const file = await cache.fetch(pin, access);

    assert.equal(pin.kind === "oci" && pin.version, "0.1.1");
    assert.equal(archiveDigest(pin), digests.get("0.1.1"));
    assert.equal(file.digest, digests.get("0.1.1"));
    assert.match(
      await runHelm(["show", "chart", file.path], { helm, home: dir }),
      /^version: 0\.1\.1$/m,
    );
    assert.equal((await readFile(file.path)).length, file.sizeBytes);
  });

  it("stores a plus of a version as an underscore in the tag", async () => {
    const { source, access } = demoAt(guarded, trusted);

    for (const version of ["1.0.0+build.5", "^1"]) {
      const { pin } = await client.resolve(source, version, access);
      assert.deepEqual(pin.kind === "oci" && [pin.version, pin.tag], [
        "1.0.0+build.5",
        "1.0.0_build.5",
      ]);
    }
  });

  it("has the version that Helm selects", async () => {
    const { source, access } = demoAt(guarded, trusted);
    const chart = [`${guarded.oci}/charts/demo`, "--ca-file", ca.file];
    const credentials = { host: guarded.host, ...user };

    for (const version of [
      "",
      "*",
      "0.1.0",
      "~0.1.0",
      ">0.1.0-0 <1",
      "0.2.0-rc.1",
      "^0.2.0-0",
      ">2",
      "nonsense",
      "3.0.0",
    ]) {
      const ours = await client.resolve(source, version, access).then(
        ({ pin }) => (pin.kind === "tarball" ? "" : pin.version),
        () => rejected,
      );
      assert.equal(
        ours,
        await helmAnswer({ helm, home: dir, chart, version, credentials }),
        `for ${version}`,
      );
    }
  });

  it("rejects clients without a password, with a wrong one, or without trust in its certificate", async () => {
    const settings = [
      [
        { caPem: ca.pem },
        "REGISTRY_UNAUTHORIZED",
        /401 Unauthorized \(UNAUTHORIZED\); no credentials are set/,
      ],
      [
        { ...trusted, password: "wrong-one" },
        "REGISTRY_UNAUTHORIZED",
        /the credentials of the Secret are not accepted/,
      ],
      [user, "REGISTRY_UNREACHABLE", /x509: certificate signed by unknown authority/],
    ] as const;
    for (const [setting, code, message] of settings) {
      const { source, access } = demoAt(guarded, setting);
      await assert.rejects(client.resolve(source, "*", access), (thrown) => {
        assert.ok(thrown instanceof Error && "code" in thrown);
        assert.equal(thrown.code, code);
        assert.match(thrown.message, message);
        assert.doesNotMatch(thrown.message, /wrong-one|strange/);
        return true;
      });
    }
  });

  it("on this machine needs no TLS", async () => {
    const { source, access } = demoAt(open);

    const { pin } = await client.resolve(source, "", access);

    assert.equal(pin.kind === "oci" && pin.version, "0.1.0");
  });

  it("lists its versions when a chart or version does not exist", async () => {
    const { source, access } = demoAt(open);
    const missing = { kind: "oci", repository: `${open.oci}/charts/missing` } as const;

    await assert.rejects(client.resolve(source, "0.2.x", access), {
      code: "CHART_VERSION_NOT_FOUND",
      message: /lists one tag, 0.1.0/,
    });
    await assert.rejects(client.resolve(missing, "*", accessTo(missing)), {
      code: "CHART_NOT_FOUND",
      message: /missing not found in the registry: .*NAME_UNKNOWN/,
    });
  });
});
