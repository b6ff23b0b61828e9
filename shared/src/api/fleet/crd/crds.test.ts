import assert from "node:assert/strict";
import { Ajv } from "ajv";
import { test } from "vitest";
import { allCrds } from "./crds.ts";
import { asJsonSchema, rootOf, testCrds } from "./testing/index.ts";

const crds = allCrds();

test("there is a CRD for each kind", () => {
  assert.deepEqual(
    crds.map(({ metadata }) => metadata.name),
    [
      "helmops.fleet.cattle.io",
      "bundles.fleet.cattle.io",
      "bundledeployments.fleet.cattle.io",
      "clusters.fleet.cattle.io",
      "clustergroups.fleet.cattle.io",
      "clusterregistrationtokens.fleet.cattle.io",
      "policies.fleet.cattle.io",
      "bundlenamespacemappings.fleet.cattle.io",
      "schedules.fleet.cattle.io",
    ],
  );
});

testCrds(crds);

const validations: readonly (readonly [
  what: string,
  kind: string,
  object: unknown,
  valid: boolean,
])[] = [
  [
    "a HelmOp with unknown fields",
    "HelmOp",
    { spec: { helm: { repo: "oci://a/b", novel: 1 }, also: {} } },
    true,
  ],
  [
    "a HelmOp with nulls",
    "HelmOp",
    { spec: { helm: { repo: null, chart: null, values: null }, targets: null } },
    true,
  ],
  ["a HelmOp with a number for a version", "HelmOp", { spec: { helm: { version: 1.2 } } }, false],
  [
    "a HelmOp with a percentage",
    "HelmOp",
    { spec: { rolloutStrategy: { maxUnavailable: "10%", partitions: [{ maxUnavailable: 1 }] } } },
    true,
  ],
  [
    "a target with a release name in capitals",
    "HelmOp",
    { spec: { targets: [{ helm: { releaseName: "Web" } }] } },
    false,
  ],
  ["a Cluster without a spec", "Cluster", {}, true],
  [
    "a Policy",
    "Policy",
    { requireServiceAccount: true, helmOp: { allowedChartPatterns: [] } },
    true,
  ],
  ["a Policy with a string for a list", "Policy", { allowedServiceAccounts: "deployer" }, false],
  ["a BundleDeployment without a spec", "BundleDeployment", {}, false],
  [
    "a BundleDeployment",
    "BundleDeployment",
    {
      spec: { deploymentID: "", stagedDeploymentID: "sha256:00" },
      status: { agent: { epoch: 1, sequence: 2 } },
    },
    true,
  ],
  [
    "a Bundle with a pin",
    "Bundle",
    {
      spec: {
        helmOpOptions: {
          pins: [
            {
              repo: "",
              chart: "https://h/a.tgz",
              version: "",
              pin: { kind: "tarball", url: "https://h/a.tgz" },
            },
          ],
        },
      },
    },
    true,
  ],
];

for (const [what, kind, object, valid] of validations) {
  test(`${what} is ${valid ? "valid" : "invalid"}`, () => {
    const crd = crds.find(({ spec }) => spec.names.kind === kind);
    assert.ok(crd !== undefined);
    const ajv = new Ajv({ strict: false, formats: { int64: true, "date-time": true } });

    assert.equal(ajv.validate(asJsonSchema(rootOf(crd)), object), valid, ajv.errorsText());
  });
}
