import assert from "node:assert/strict";
import { describe, test } from "vitest";
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
