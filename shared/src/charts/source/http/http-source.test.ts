import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { accessTo, chartErrors } from "../index.ts";
import {
  createTestClient,
  indexText,
  issueTestCertificate,
  type Respond,
  registryOf,
  send,
  startTestServer,
  testChart,
} from "../testing/index.ts";
import { noSuchChart } from "./http-source.ts";

const indexUrl = "https://charts.example.com/index.yaml";

describe("the error for a chart that the index does not have", () => {
  const many = Array.from({ length: 20 }, (_, at) => `other-${at}`);
  const cases: readonly (readonly [what: string, names: readonly string[], expected: RegExp])[] = [
    ["counts an empty index", [], /lists 0 charts$/],
    ["names the only chart", ["web"], /lists 1 chart: web$/],
    ["names a few charts", ["web", "db"], /lists 2 charts: web, db$/],
    [
      "names the similar ones of many charts",
      [...many, "traefik", "traefik-mesh", "tra-la"],
      /lists 23 charts, those with a similar name are traefik, traefik-mesh, tra-la$/,
    ],
    ["counts many charts when none is similar", many, /lists 20 charts$/],
  ];
  for (const [what, names, expected] of cases) {
    test(what, () => {
      const { code, message } = noSuchChart("traefick", { indexUrl, names });

      assert.equal(code, "CHART_NOT_FOUND");
      assert.match(message, /^no chart named traefick found: GET https:\/\/charts\.example\.com/);
      assert.match(message, expected);
    });
  }
});

async function pinAt(repository: string): Promise<{ readonly version: string }> {
  await using client = createTestClient();
  const source = { kind: "http", repository, chart: "web" } as const;
  const { pin } = await client.resolve(source, "1.x", accessTo(source, { plainHttp: true }));
  assert.ok("version" in pin);
  return pin;
}

describe("a chart that the index has", () => {
  test("without an address is an error of the index", async () => {
    const index =
      "apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: web, version: 1.0.0, urls: []}\n";
    await using server = await startTestServer((_, response) => send(response, 200, index));

    await assert.rejects(pinAt(server.origin), {
      code: chartErrors.INDEX_INVALID.code,
      message: `GET ${server.origin}/index.yaml: chart web 1.0.0 has no address (urls is empty)`,
    });
  });

  test("and whose registry does not have it is not a version", async () => {
    const registry = registryOf({ "1.0.0": testChart("1.0.0") });
    await using server = await startTestServer((request, response) => {
      if (request.path !== "/index.yaml") return registry(request, response);
      const url = `oci://${request.headers.host}/charts/web:1.1.0`;
      send(response, 200, indexText({ web: [{ version: "1.1.0", url }] }));
    });

    await assert.rejects(pinAt(server.origin), {
      code: "CHART_VERSION_NOT_FOUND",
      message: `GET ${server.origin}/index.yaml: chart web 1.1.0 is at oci://${server.host}/charts/web:1.1.0, which the registry does not have`,
    });
  });
});

describe("an index", () => {
  const index = indexText({ web: ["1.0.0"] });

  for (const type of ["text/html", "application/json", "none of these"])
    test(`is read whatever its Content-Type says, ${type} too`, async () => {
      const respond: Respond = (_, response) =>
        send(response, 200, index, { "content-type": type });
      await using server = await startTestServer(respond);

      assert.equal((await pinAt(server.origin)).version, "1.0.0");
    });

  test("is a web page by its bytes, although its Content-Type is that of YAML", async () => {
    await using server = await startTestServer((_, response) =>
      send(response, 200, "<!DOCTYPE html>", { "content-type": "application/yaml" }),
    );

    await assert.rejects(pinAt(server.origin), {
      code: "INDEX_INVALID",
      message: /: invalid index: it is a web page/,
    });
  });

  test("at another host that is not trusted is an error with the address of that host", async () => {
    const certificate = await issueTestCertificate();
    await using elsewhere = await startTestServer((_, response) => send(response, 200, index), {
      certificate,
    });
    await using server = await startTestServer((_, response) =>
      send(response, 302, "", { location: `${elsewhere.origin}/index.yaml` }),
    );

    await assert.rejects(pinAt(server.origin), (thrown: Error) => {
      assert.ok(thrown.message.startsWith(`GET ${elsewhere.origin}/index.yaml: tls: failed`));
      assert.match(thrown.message, /x509: certificate signed by unknown authority/);
      return true;
    });
    assert.deepEqual(elsewhere.paths(), []);
  });

  test("of a host whose certificate is for another one is not read", async () => {
    const certificate = await issueTestCertificate();
    await using server = await startTestServer((_, response) => send(response, 200, index), {
      certificate,
    });
    await using client = createTestClient();
    const repository = `https://localhost:${new URL(server.origin).port}`;
    const source = { kind: "http", repository, chart: "web" } as const;
    const access = accessTo(source, { caPem: certificate.caPem });

    await assert.rejects(client.resolve(source, "1.x", access), {
      code: "INDEX_FETCH",
      message: `GET ${repository}/index.yaml: tls: failed to verify certificate: x509: certificate is not valid for the host`,
    });
    assert.deepEqual(server.paths(), []);
  });
});
