import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { Listing } from "../index.ts";
import { noSuchVersion } from "./resolve.ts";

const location = {
  kind: "http",
  repository: "https://charts.example.com",
  chart: "traefik",
} as const;

function listing(versions: readonly string[], rules: Listing["rules"] = "index"): Listing {
  return {
    rules,
    versions: versions.map((version) => ({ version })),
    problems: [],
    listedBy: rules === "tags" ? "the registry" : "GET https://charts.example.com/index.yaml",
  };
}

describe("the error for a constraint that no version satisfies", () => {
  const cases: readonly (readonly [
    what: string,
    constraint: string,
    versions: readonly string[],
    highest: readonly string[],
    message: RegExp,
  ])[] = [
    ["lists none", "^2", [], [], /for traefik-\^2: GET .*index\.yaml lists no versions$/],
    ["lists the only one", "^2", ["1.0.0"], ["1.0.0"], /lists one version, 1\.0\.0$/],
    [
      "names the highest",
      "^2",
      ["1.1.0", "1.0.0"],
      ["1.1.0", "1.0.0"],
      /lists 2 versions, the highest are 1\.1\.0, 1\.0\.0$/,
    ],
    [
      "explains prereleases",
      "",
      ["2.0.0-rc.1"],
      ["2.0.0-rc.1"],
      /found for traefik: .*one version, 2\.0\.0-rc\.1; a prerelease is chosen only by a constraint that names one/,
    ],
  ];
  for (const [what, constraint, versions, highest, message] of cases) {
    test(what, () => {
      assert.match(
        noSuchVersion(location, constraint, listing(versions), highest).message,
        message,
      );
    });
  }

  test("lists the skipped entries of an index", () => {
    const skipped = { ...listing([]), problems: ["entry 2 of traefik has no version"] };

    assert.match(
      noSuchVersion(location, "^2", skipped, []).message,
      /lists no versions; skipped: entry 2 of traefik has no version$/,
    );
  });

  test("calls versions of a registry tags", () => {
    const oci = { kind: "oci", repository: "oci://r.example.com/web" } as const;

    assert.equal(
      noSuchVersion(oci, "9.9.9", listing(["latest"], "tags"), []).message,
      "no chart version found for oci://r.example.com/web:9.9.9: the registry lists one tag, which is not a version",
    );
  });
});
