import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { test } from "vitest";
import { releaseOfBundle } from "../../rules/frontend/planned-release.ts";
import { aBundle, aHelmOp, httpPin } from "../../testing/index.ts";
import { isAppliedByHand, resolvedSpec, validateBundle } from "./applied-bundle.ts";

const repo = "https://charts.example.com";
const helm = { repo, chart: "web", version: "~1.2" };
const pins = [
  { repo, chart: "web", version: "~1.2", pin: httpPin("1.2.9") },
  { repo, chart: "web", version: "^2", pin: httpPin("2.4.0") },
];

test("a Bundle belongs to a HelmOp when the HelmOp exists or its label names one", () => {
  assert.equal(isAppliedByHand(aBundle(), aHelmOp()), false);
  assert.equal(isAppliedByHand(aBundle({}, { labels: {} }), aHelmOp()), true);
  assert.equal(isAppliedByHand(aBundle(), undefined), true);
});

test("the chart source of a Bundle is parsed as that of a HelmOp", () => {
  const { spec, source, kind } = releaseOfBundle(
    aBundle({
      helm,
      namespace: "shop",
      helmOpOptions: { helmOpSecretName: "login", helmOpInsecureSkipTLSVerify: false, pins },
    }),
  );

  assert.equal(kind, "Bundle");
  assert.deepEqual(spec, { helm, namespace: "shop" });
  assert.deepEqual(source, { secretName: "login", insecureSkipTLSVerify: false });
});

test("the deployed spec has the resolved versions, also in targets", () => {
  const spec = resolvedSpec(
    aBundle({
      helm,
      helmOpOptions: { helmOpSecretName: "login" },
      targets: [{ clusterName: "a" }, { clusterName: "b", helm: { version: "^2" } }],
    }),
    { pins },
  );

  assert.equal(spec.helm?.version, "1.2.9");
  assert.deepEqual(
    spec.targets?.map(({ name, helm: own }) => [name, own?.version]),
    [
      ["target000", undefined],
      ["target001", "2.4.0"],
    ],
  );
  assert.deepEqual(spec.helmOpOptions, { helmOpSecretName: "login", pins });
});

test("a Bundle without targets is deployed nowhere; only a HelmOp has a default target", () => {
  assert.deepEqual(resolvedSpec(aBundle({ helm }), { pins }).targets, []);
});

const invalid: readonly (readonly [what: string, spec: Bundle["spec"], message: RegExp])[] = [
  ["without a chart", {}, /^the Bundle names no chart: name a chart with spec\.helm\.repo and/],
  ["with values and no chart", { helm: { values: { a: 1 } } }, /^the Bundle names no chart/],
  [
    "made from Git, with manifests",
    { resources: [{ name: "a.yaml", content: "kind: ConfigMap" }] },
    /^the Bundle has files of its own \(spec\.resources\), as Fleet makes them from Git; .*: name a chart .*, and leave the files out$/,
  ],
  [
    "made from Git, with a chart among its files",
    { helm: { chart: "./chart" }, resources: [{ name: "chart/Chart.yaml" }] },
    /^the Bundle has files of its own/,
  ],
  ["whose files are elsewhere", { helm, contentsId: "s-1" }, /\(spec\.contentsId\)/],
  ["with a chart given in none of the three ways", { helm: { repo } }, /helm\.chart is empty/],
  [
    "with an invalid selector",
    { helm, targets: [{ clusterSelector: { matchLabels: { "a b": "c" } } }] },
    /^spec\.targets\[0\]\.clusterSelector cannot be used/,
  ],
  [
    "with charts of targets whose options are merged",
    {
      helm,
      targets: [{ clusterName: "a", helm: { version: "2.0.0" } }, { clusterSelector: {} }],
      targetRestrictions: [{ clusterSelector: {} }],
      targetCustomizationMode: "AllMatches",
    },
    /^spec\.targets\[0\]\.helm names a chart, and with targetCustomizationMode AllMatches/,
  ],
  [
    "with an invalid limit of its rollout",
    { helm, rolloutStrategy: { maxUnavailablePartitions: "some" } },
    /^spec\.rolloutStrategy\.maxUnavailablePartitions is "some"/,
  ],
  [
    "with too many dependencies",
    { helm, dependsOn: Array.from({ length: 101 }, () => ({ name: "db" })) },
    /^spec\.dependsOn has 101 entries, more than the limit of 100/,
  ],
];
for (const [what, spec, message] of invalid) {
  test(`a Bundle ${what} is invalid, and the error names the cause`, () => {
    const error = validateBundle(aBundle(spec, { labels: {} }));

    assert.match(error?.message ?? "", message);
    assert.equal(error?.retryable, false);
  });
}

test("a Bundle that names a chart is valid", () => {
  for (const options of [
    helm,
    { repo: "oci://r.example/web" },
    { chart: "https://x.example/a.tgz" },
  ])
    assert.equal(validateBundle(aBundle({ helm: options, resources: [] })), undefined);
});

test("rejects a name that is too long, and the error says what to create instead", () => {
  const error = validateBundle(aBundle({ helm }, { name: "a".repeat(64) }));

  assert.match(error?.message ?? "", /create the Bundle again under a shorter name/);
});
