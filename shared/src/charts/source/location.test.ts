import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { AppError } from "../../runtime/errors/index.ts";
import { type ChartFields, classifySource, type SourceLocation } from "./location.ts";

describe("a HelmOp's chart", () => {
  const sources: readonly (readonly [
    name: string,
    reference: ChartFields,
    source: SourceLocation,
  ])[] = [
    [
      "is an archive when its address ends in .tgz",
      { chart: "https://host/charts/x-1.0.0.TGZ" },
      { kind: "tarball", url: "https://host/charts/x-1.0.0.TGZ" },
    ],
    [
      "is in a registry when the repo has the scheme oci",
      { repo: "OCI://Reg.example.org:5000/charts/x/", version: "1.x" },
      { kind: "oci", repository: "oci://reg.example.org:5000/charts/x" },
    ],
    [
      "is in an index otherwise",
      { repo: "https://charts.example.org/stable?a=b", chart: "x", version: "" },
      { kind: "http", repository: "https://charts.example.org/stable?a=b", chart: "x" },
    ],
    [
      "treats null as empty",
      { repo: null, chart: "http://h/x.tgz", version: null },
      { kind: "tarball", url: "http://h/x.tgz" },
    ],
  ];
  for (const [name, reference, source] of sources) {
    it(name, () => assert.deepEqual(classifySource(reference), source));
  }

  const rejected: readonly (readonly [name: string, reference: ChartFields, message: RegExp])[] = [
    [
      "an archive with a repo",
      { chart: "https://h/x.tgz", repo: "https://h" },
      /helm.repo must be empty/,
    ],
    [
      "an archive with a version",
      { chart: "https://h/x.tgz", version: "1.0.0" },
      /helm.version must be empty/,
    ],
    ["an archive without a valid address", { chart: "x.tgz" }, /helm.chart has to be an address/],
    ["an archive with a query", { chart: "https://h/x.tgz?a=b" }, /does not end in .tgz/],
    ["a registry with a chart", { repo: "oci://h/p", chart: "x" }, /helm.chart must be empty/],
    ["a registry without a path", { repo: "oci://h" }, /oci:\/\/HOST\/PATH/],
    ["a registry with a tag", { repo: "oci://h/p:1.0.0" }, /without a tag/],
    ["a registry with a digest", { repo: "oci://h/p@sha256:00" }, /a digest/],
    ["a registry with a user", { repo: "oci://me:pw@h/p" }, /a user name/],
    ["a registry with capitals in the path", { repo: "oci://h/Charts/x" }, /lower case/],
    ["a repo without a chart", { repo: "https://h" }, /helm.chart is empty/],
    ["a chart without a repo", { chart: "x" }, /helm.repo is empty/],
    ["a registry in the wrong field", { chart: "oci://h/p" }, /goes into helm.repo/],
    ["nothing at all", {}, /helm.repo and helm.chart are empty/],
    [
      "a repo without a valid address",
      { repo: "charts.example.org", chart: "x" },
      /helm.repo has to be an address/,
    ],
    ["a repo with a password", { repo: "https://me:pw@h", chart: "x" }, /helmSecretName/],
  ];
  for (const [name, reference, message] of rejected) {
    it(`is rejected: ${name}`, () => {
      const response = classifySource(reference);

      assert.ok(response instanceof AppError);
      assert.equal(response.code, "CHART_SOURCE_INVALID");
      assert.match(response.message, message);
      assert.doesNotMatch(response.message, /pw/);
    });
  }
});
