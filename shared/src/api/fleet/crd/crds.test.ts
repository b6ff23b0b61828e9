import assert from "node:assert/strict";
import { Ajv } from "ajv";
import { test } from "vitest";
import { allCrds, type CustomResourceDefinition, renderCrd } from "./crds.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const crds = allCrds();

interface Node {
  readonly path: string;
  readonly schema: StructuralSchema;
}

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
      "schedules.fleet.cattle.io",
    ],
  );
});

for (const crd of crds) {
  const { kind } = crd.spec.names;
  const nodes = nodesOf(rootOf(crd), kind);

  const isFlat = rootOf(crd).properties?.["spec"] === undefined;

  test(`${kind} keeps unknown fields at every level of ${isFlat ? "the object" : "spec and status"}`, () => {
    const closed = nodes
      .filter(({ path, schema }) => (isFlat || path !== kind) && schema.properties !== undefined)
      .filter(({ schema }) => schema["x-kubernetes-preserve-unknown-fields"] !== true)
      .map(({ path }) => path);

    assert.deepEqual(closed, []);
  });

  test(`every field of ${kind} is described`, () => {
    const withoutDescription = nodes
      .filter(({ path }) => isFlat || /\.(spec|status)\./.test(path))
      .filter(({ path }) => !/(\[\]|\.\*|\.metadata)$/.test(path))
      .filter(({ path, schema }) => !path.includes(".pin.") && (schema.description ?? "") === "")
      .map(({ path }) => path);

    assert.deepEqual(withoutDescription, []);
  });

  test(`the rules of ${kind} are for texts of limited length only, within the cost budget of the API server`, () => {
    const unlimited = nodes
      .filter(
        ({ schema }) =>
          schema["x-kubernetes-validations"] !== undefined && schema.type === "string",
      )
      .filter(({ schema }) => schema.maxLength === undefined)
      .map(({ path }) => path);

    assert.deepEqual(unlimited, []);
  });

  test(`the CRD of ${kind} has no template syntax, so Helm renders it unchanged`, () => {
    assert.doesNotMatch(renderCrd(crd), /\{\{|\}\}/);
  });
}

test("uninstalling the chart keeps the CRDs, and so all objects", () => {
  for (const { metadata } of crds)
    assert.equal(metadata.annotations["helm.sh/resource-policy"], "keep");
});

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

function rootOf(crd: CustomResourceDefinition): StructuralSchema {
  const [version] = crd.spec.versions;
  assert.ok(version !== undefined);
  return version.schema.openAPIV3Schema;
}

/** Adds the type that a JSON Schema validator needs for an extension of Kubernetes. */
function asJsonSchema(schema: StructuralSchema): object {
  const text = JSON.stringify(schema);
  return JSON.parse(
    text.replaceAll('"x-kubernetes-int-or-string":true', '"type":["integer","string"]'),
  ) as object;
}

function nodesOf(schema: StructuralSchema, path: string): readonly Node[] {
  return [
    { path, schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      nodesOf(field, `${path}.${name}`),
    ),
    ...(schema.items === undefined ? [] : nodesOf(schema.items, `${path}[]`)),
    ...(schema.additionalProperties === undefined
      ? []
      : nodesOf(schema.additionalProperties, `${path}.*`)),
  ];
}
