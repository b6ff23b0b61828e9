/** Every kind of source and form of version that a HelmOp can have, and the pin that it resolves to. */
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { accessTo, classifySource, type Pin } from "../index.ts";
import type { ChartFields } from "../location.ts";
import {
  createTestClient,
  indexText,
  registryOf,
  send,
  startTestServer,
  type TestServer,
  testChart,
} from "../testing/index.ts";

const offered = ["2.0.0-rc.1", "1.2.0+b.1", "1.1.0", "v1.0.5", "1.0.0", "0.9"];
const index = indexText({ web: offered });
const registry = registryOf({
  ...Object.fromEntries(offered.map((version) => [version.replace("+", "_"), testChart(version)])),
  latest: testChart("latest"),
});

/** One server that is a repository and a registry. */
function startBoth(): Promise<TestServer> {
  return startTestServer((request, response) =>
    request.path === "/index.yaml" ? send(response, 200, index) : registry(request, response),
  );
}

async function pinOf(reference: ChartFields): Promise<Pin> {
  await using client = createTestClient();
  const source = classifySource(reference);
  if (source instanceof Error) throw source;
  const { pin } = await client.resolve(
    source,
    reference.version ?? "",
    accessTo(source, { plainHttp: true }),
  );
  return pin;
}

const versions: readonly (readonly [form: string, constraint: string, version: string])[] = [
  ["an empty version, the newest release", "", "1.2.0+b.1"],
  ["a star, the newest release", "*", "1.2.0+b.1"],
  ["a static version", "1.1.0", "1.1.0"],
  ["a fixed version with build metadata", "1.2.0+b.1", "1.2.0+b.1"],
  ["a fixed version without its build metadata", "1.2.0", "1.2.0+b.1"],
  ["a static prerelease", "2.0.0-rc.1", "2.0.0-rc.1"],
  ["a fixed version that has a v in the repository", "1.0.5", "v1.0.5"],
  ["a version with a v", "v1.0.5", "v1.0.5"],
  ["a version with a v that has none in the repository", "v1.1.0", "1.1.0"],
  ["a version with two numbers", "0.9", "0.9"],
  ["two numbers that are a range", "1.0", "v1.0.5"],
  ["a constraint", "~1.1", "1.1.0"],
  ["a constraint of several terms", ">=1.0.0, <1.1", "v1.0.5"],
  ["a constraint of alternatives", "3.x || <1", "0.9"],
  ["a constraint with a v", "^v1.1", "1.2.0+b.1"],
  ["a range with two ends", "1.0 - 1.1", "1.1.0"],
  ["a constraint that names a prerelease", ">=2.0.0-0", "2.0.0-rc.1"],
  ["a constraint that only a prerelease would satisfy", "^2", "CHART_VERSION_NOT_FOUND"],
  ["a version that does not exist", "9.9.9", "CHART_VERSION_NOT_FOUND"],
  ["an invalid constraint", "newest", "VERSION_CONSTRAINT_INVALID"],
  ["spaces alone", " ", "VERSION_CONSTRAINT_INVALID"],
];

describe("a version", () => {
  for (const [form, constraint, version] of versions) {
    for (const kind of ["an index", "a registry"] as const) {
      it(`of ${kind} requested by ${form} (${JSON.stringify(constraint)}) is ${version}`, async () => {
        await using server = await startBoth();
        const from =
          kind === "an index"
            ? { repo: server.origin, chart: "web" }
            : { repo: `oci://${server.host}/charts/web` };

        const pinned = pinOf({ ...from, version: constraint });

        if (/^[A-Z_]+$/.test(version)) return await assert.rejects(pinned, { code: version });
        const pin = await pinned;
        if (pin.kind === "oci")
          assert.deepEqual([pin.version, pin.tag], [version, version.replace("+", "_")]);
        else
          assert.deepEqual(pin, {
            kind: "http",
            version,
            url: `${server.origin}/web-${version}.tgz`,
          });
      });
    }
  }
});

describe("an archive at an address", () => {
  it("is its own pin, without a request", async () => {
    await using server = await startBoth();
    const url = `${server.origin}/web-1.0.0.tgz`;

    assert.deepEqual(await pinOf({ chart: url }), { kind: "tarball", url });
    assert.equal(server.seen.length, 0);
  });
});

describe("an index with an address", () => {
  const elsewhere: readonly (readonly [name: string, url: string, pinned: string | RegExp])[] = [
    ["another host", "https://cdn.example.com/web.tgz", "https://cdn.example.com/web.tgz"],
    ["another path of its own host", "/files/web.tgz", "/files/web.tgz"],
    [
      "an address that is not HTTP",
      "file:///etc/passwd",
      /is at file:\/\/\/etc\/passwd, must be at https/,
    ],
    [
      "a registry without a tag",
      "oci://r.example.com/web",
      /must be at https:\/\/, http:\/\/ or oci:\/\/HOST\/PATH:TAG/,
    ],
  ];
  for (const [name, url, pinned] of elsewhere) {
    it(`at ${name} is ${typeof pinned === "string" ? "pinned there" : "rejected"}`, async () => {
      await using server = await startTestServer((_, response) =>
        send(response, 200, indexText({ web: [{ version: "1.0.0", url }] })),
      );
      const pin = pinOf({ repo: server.origin, chart: "web" });

      if (typeof pinned !== "string")
        return await assert.rejects(pin, { code: "INDEX_INVALID", message: pinned });
      const { kind, ...rest } = await pin;
      assert.equal(kind, "http");
      assert.equal("url" in rest && rest.url, new URL(pinned, server.origin).href);
    });
  }

  it("in a registry is pinned by the registry's digests", async () => {
    await using server = await startTestServer((request, response) =>
      request.path === "/index.yaml"
        ? send(
            response,
            200,
            indexText({
              web: [{ version: "1.1.0", url: `oci://${server.host}/charts/web:1.1.0` }],
            }),
          )
        : registry(request, response),
    );

    const pin = await pinOf({ repo: server.origin, chart: "web" });

    assert.equal(pin.kind === "oci" && pin.layerDigest, testChart("1.1.0").layerDigest);
  });
});

describe("an index with a login", () => {
  it("is read with the access of the call, also where the options are those of another request", async () => {
    await using server = await startTestServer(({ headers }, response) =>
      headers.authorization === undefined
        ? send(response, 401)
        : send(response, 200, indexText({ web: ["1.0.0"] })),
    );
    await using client = createTestClient();
    const source = { kind: "http", repository: server.origin, chart: "web" } as const;
    const { signal } = new AbortController();
    const other = { signal, access: { origin: "https://git.example.com", password: "another" } };

    const { pin } = await client.resolve(
      source,
      "",
      accessTo(source, { username: "me", password: "pw" }),
      other,
    );

    assert.equal(pin.kind === "http" && pin.version, "1.0.0");
  });
});
