import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { noSuchChart, noSuchTag, noSuchVersion } from "./not-found.ts";

const source = {
  kind: "http",
  repository: "https://charts.example.com",
  chart: "traefick",
} as const;
const indexUrl = "https://charts.example.com/index.yaml";

function index(names: readonly string[], versions: readonly string[] = []) {
  return {
    indexUrl,
    names,
    chart: { entries: versions.map((version) => ({ version, urls: [] })), problems: [] },
  };
}

describe("a chart that is not there", () => {
  const many = Array.from({ length: 20 }, (_, at) => `other-${at}`);
  const cases: readonly (readonly [what: string, names: readonly string[], says: RegExp])[] = [
    ["of none at all", [], /lists 0 charts$/],
    ["of one", ["web"], /lists 1 chart: web$/],
    ["of a few", ["web", "db"], /lists 2 charts: web, db$/],
    [
      "of many, of which some are alike",
      [...many, "traefik", "traefik-mesh", "tra-la"],
      /lists 23 charts, those with a similar name are traefik, traefik-mesh, tra-la$/,
    ],
    ["of many, of which none is alike", many, /lists 20 charts$/],
  ];
  for (const [what, names, says] of cases) {
    test(`${what} is told with its repository`, () => {
      const { code, message } = noSuchChart(source, index(names));

      assert.equal(code, "CHART_NOT_FOUND");
      assert.match(message, /^no chart named traefick found: GET https:\/\/charts\.example\.com/);
      assert.match(message, says);
    });
  }
});

describe("a version that is not there", () => {
  const cases: readonly (readonly [
    what: string,
    wanted: string,
    versions: readonly string[],
    highest: readonly string[],
    says: RegExp,
  ])[] = [
    ["of none", "^2", [], [], /for traefick-\^2: GET .*index\.yaml lists no versions$/],
    ["of one", "^2", ["1.0.0"], ["1.0.0"], /lists one version, 1\.0\.0$/],
    [
      "of some",
      "^2",
      ["1.1.0", "1.0.0"],
      ["1.1.0", "1.0.0"],
      /lists 2 versions, the highest are 1\.1\.0, 1\.0\.0$/,
    ],
    [
      "of prereleases, when none was asked for",
      "",
      ["2.0.0-rc.1"],
      ["2.0.0-rc.1"],
      /found for traefick: .*one version, 2\.0\.0-rc\.1; a prerelease is chosen only by a constraint that names one/,
    ],
  ];
  for (const [what, wanted, versions, highest, says] of cases) {
    test(`${what} is told with those that are`, () => {
      assert.match(noSuchVersion(source, wanted, index([], versions), highest).message, says);
    });
  }

  test("of a registry is told with its tags", () => {
    const { message } = noSuchTag("oci://r.example.com/web", "9.9.9", ["latest"], []);

    assert.equal(
      message,
      "no chart version found for oci://r.example.com/web:9.9.9: the registry lists one tag, which is no version",
    );
  });
});
