import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aDeployment, digestA, digestB } from "../../testing/index.ts";
import { createArchiveCounts, differingArchives } from "./archives.ts";

const address = "1.2.3 at https://charts.example.com/web-1.2.3.tgz";
const bundle = "fleet-default/web";

function running(cluster: string, content: string, chartDigest?: string): BundleDeployment {
  return aDeployment(cluster, {
    status: { appliedDeploymentID: content, ...(chartDigest !== undefined && { chartDigest }) },
  });
}

function countsOf(deployments: readonly BundleDeployment[]) {
  const counts = createArchiveCounts();
  for (const deployment of deployments) counts.count(bundle, deployment, 1);
  return counts;
}

describe("an index without digests", () => {
  test("is reported when clusters got different archives, with their numbers", () => {
    const counts = countsOf([
      running("paris", "s-1", digestB),
      running("rome", "s-1", digestA),
      running("oslo", "s-1", digestA),
    ]);

    assert.equal(
      differingArchives(counts.of(bundle), { "s-1": address }),
      `clusters got different archives of ${address}, ${digestA} in 2 clusters and ${digestB} in 1 cluster; its source gives no digest to check them against: publish it under a version of its own, an archive in an index with digests`,
    );
  });

  test("is reported when targets with other values got different archives of the same chart", () => {
    const counts = countsOf([running("paris", "s-1", digestA), running("rome", "s-2", digestB)]);
    const unchecked = { "s-1": address, "s-2": address };

    assert.match(
      differingArchives(counts.of(bundle), unchecked) ?? "",
      /in 1 cluster and .* in 1 cluster/,
    );
  });

  test("with another archive for each request is reported in a short message", () => {
    const counts = countsOf(
      Array.from({ length: 500 }, (_, at) =>
        running(`c${at}`, "s-1", `sha256:${String(at).padStart(64, "0")}`),
      ),
    );

    const text = differingArchives(counts.of(bundle), { "s-1": address }) ?? "";

    assert.match(text, / and 497 more; /);
    assert.ok(text.length < 600);
  });

  const unreported: readonly (readonly [
    what: string,
    deployments: readonly BundleDeployment[],
    unchecked: readonly (readonly [string, string])[],
  ])[] = [
    [
      "when all got the same",
      [running("paris", "s-1", digestA), running("rome", "s-1", digestA)],
      [["s-1", address]],
    ],
    [
      "while some still run an earlier version",
      [running("paris", "s-0", digestB), running("rome", "s-1", digestA)],
      [["s-1", address]],
    ],
    [
      "when targets have different charts",
      [running("paris", "s-1", digestA), running("rome", "s-2", digestB)],
      [
        ["s-1", address],
        ["s-2", "https://charts.example.com/other.tgz"],
      ],
    ],
    [
      "when a digest was checked",
      [running("paris", "s-1", digestA), running("rome", "s-1", digestB)],
      [],
    ],
    ["before any report", [running("paris", "s-1"), running("rome", "")], [["s-1", address]]],
  ];
  for (const [what, deployments, unchecked] of unreported) {
    test(`is not reported ${what}`, () => {
      assert.equal(
        differingArchives(countsOf(deployments).of(bundle), Object.fromEntries(unchecked)),
        undefined,
      );
    });
  }

  test("is no longer reported when the clusters agree again", () => {
    const counts = countsOf([running("paris", "s-1", digestA), running("rome", "s-1", digestB)]);

    counts.count(bundle, running("rome", "s-1", digestB), -1);
    counts.count(bundle, running("rome", "s-1", digestA), 1);
    assert.equal(differingArchives(counts.of(bundle), { "s-1": address }), undefined);

    counts.count(bundle, running("rome", "s-1", digestA), -1);
    counts.count(bundle, running("paris", "s-1", digestA), -1);
    assert.equal(counts.of(bundle).size, 0);
  });
});
