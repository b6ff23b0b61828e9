import assert from "node:assert/strict";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";
import { test } from "vitest";
import { aHelmRelease, webChart } from "./testing/index.ts";
import { type ValidationOptions, validate } from "./validate.ts";

const open: ValidationOptions = { crossNamespaceReferences: true, requireLocalAccount: false };
const strict: ValidationOptions = { crossNamespaceReferences: false, requireLocalAccount: true };
const account = { serviceAccountName: "deployer" };
const elsewhere: HelmReleaseSpec["chart"] = {
  spec: {
    ...webChart.spec,
    sourceRef: { kind: "HelmRepository", name: "charts", namespace: "infra" },
  },
};
const ofRegistry = { kind: "OCIRepository", name: "web" } as const;

type Row = readonly [
  what: string,
  spec: Partial<HelmReleaseSpec>,
  options: ValidationOptions,
  code: string,
  message: RegExp,
];

const refused: readonly Row[] = [
  ["no chart", { chart: undefined }, open, "HELMRELEASE_INVALID", /exactly one of spec\.chart/],
  [
    "two charts",
    { chart: webChart, chartRef: ofRegistry },
    open,
    "HELMRELEASE_INVALID",
    /exactly one of spec\.chart/,
  ],
  [
    "a release name that Helm takes for an option",
    { releaseName: "--dry-run=server" },
    open,
    "HELMRELEASE_INVALID",
    /^"--dry-run=server" is not a name of a Helm release: .*; change spec\.releaseName$/,
  ],
  [
    "a target namespace from which no release name can be made",
    { targetNamespace: "--set" },
    open,
    "HELMRELEASE_INVALID",
    /^"--set-web" is not a name of a Helm release: .*; change spec\.targetNamespace$/,
  ],
  [
    "an ExternalArtifact",
    { chartRef: { kind: "ExternalArtifact", name: "web" } },
    open,
    "HELMRELEASE_INVALID",
    /ExternalArtifact is not supported/,
  ],
  [
    "another namespace for the records",
    { storageNamespace: "flux-system" },
    open,
    "HELMRELEASE_INVALID",
    /the namespace of the release, apps: remove storageNamespace/,
  ],
  [
    "a limit that is none",
    { rolloutStrategy: { maxUnavailable: "ten" } },
    open,
    "HELMRELEASE_INVALID",
    /^spec\.rolloutStrategy\.maxUnavailable is "ten": write a whole number, or a percentage/,
  ],
  [
    "a gate that waits for tests where none run",
    { rolloutStrategy: { stages: [{ name: "all", after: [{ name: "tests", test: {} }] }] } },
    open,
    "HELMRELEASE_INVALID",
    /^spec\.rolloutStrategy\.stages\[0\]\.after\[0\]\.test waits for tests, and no tests run/,
  ],
  [
    "its own namespace for the records of a release elsewhere",
    { storageNamespace: "apps", targetNamespace: "shop" },
    open,
    "HELMRELEASE_INVALID",
    /the namespace of the release, shop/,
  ],
  [
    "the legacy strategy of waiting",
    { waitStrategy: { name: "legacy" } },
    open,
    "HELMRELEASE_INVALID",
    /legacy is not supported/,
  ],
  [
    "values that are a list",
    { values: ["a"] as unknown },
    open,
    "HELMRELEASE_INVALID",
    /spec\.values is not a map/,
  ],
  [
    "values from more objects than the hub reads for one release",
    { valuesFrom: Array.from({ length: 101 }, () => ({ kind: "Secret", name: "a" }) as const) },
    open,
    "HELMRELEASE_INVALID",
    /spec\.valuesFrom has 101 entries, more than the limit of 100/,
  ],
  [
    "too many dependencies",
    { dependsOn: Array.from({ length: 101 }, () => ({ name: "db" })) },
    open,
    "HELMRELEASE_INVALID",
    /^spec\.dependsOn has 101 entries, more than the limit of 100: leave out those that other/,
  ],
  [
    "too many rules for drift",
    { driftDetection: { ignore: Array.from({ length: 1_001 }, () => ({ paths: ["/a"] })) } },
    open,
    "HELMRELEASE_INVALID",
    /^spec\.driftDetection\.ignore has 1001 entries, more than the limit of 1000: give one rule/,
  ],
  [
    "a rule for drift whose selector cannot be read",
    { driftDetection: { ignore: [{ paths: ["/a"], target: { labelSelector: "a in (" } }] } },
    open,
    "HELMRELEASE_INVALID",
    /^spec\.driftDetection\.ignore\[0\]\.target cannot be used: /,
  ],
  [
    "rules for drift that take too long to compile, in a target too",
    {
      targets: [
        {},
        {
          driftDetection: {
            ignore: Array.from({ length: 100 }, () => ({
              paths: ["/a"],
              target: { name: "(?:a?){500}" },
            })),
          },
        },
      ],
    },
    open,
    "HELMRELEASE_INVALID",
    /^spec\.targets\[1\]\.driftDetection\.ignore\[\d+\]\.target cannot be used: .*write fewer or simpler ones$/,
  ],
  [
    "hooks that are not changed",
    { postRenderStrategy: "nohooks" } as Partial<HelmReleaseSpec>,
    open,
    "HELMRELEASE_INVALID",
    /spec\.postRenderStrategy/,
  ],
  [
    "a kubeConfig of another Secret",
    { kubeConfig: { secretRef: { name: "mine" } } },
    open,
    "HELMRELEASE_INVALID",
    /CLUSTER-kubeconfig/,
  ],
  [
    "an account of any namespace in a target",
    { targets: [{ clusterName: "a", serviceAccount: "system:serviceaccount:kube-system:admin" }] },
    open,
    "HELMRELEASE_INVALID",
    /^spec\.targets\[0\]\.serviceAccount is system:/,
  ],
  [
    "a Secret of another namespace in a target",
    {
      targets: [
        { clusterName: "a", downstreamResources: [{ kind: "Secret", name: "kube-system/key" }] },
      ],
    },
    open,
    "HELMRELEASE_INVALID",
    /downstreamResources\[0\]\.name is kube-system\/key/,
  ],
  [
    "no account on the hub's own cluster",
    {},
    strict,
    "ACCESS_DENIED",
    /set it to an account of namespace apps.*flux\.requireLocalServiceAccount/,
  ],
  [
    "a source of another namespace",
    { ...account, chart: elsewhere },
    strict,
    "ACCESS_DENIED",
    /^HelmRepository infra\/charts is in another namespace.*flux\.crossNamespaceReferences/,
  ],
  [
    "a chartRef to another namespace",
    { ...account, chartRef: { ...ofRegistry, namespace: "infra" } },
    strict,
    "ACCESS_DENIED",
    /^OCIRepository infra\/web is in another namespace/,
  ],
];

test.each(refused)("%s is refused", (_, spec, options, code, message) => {
  const error = validate(aHelmRelease(spec), options);
  assert.equal(error?.code, code);
  assert.match(error.message, message);
});

const accepted: readonly (readonly [string, Partial<HelmReleaseSpec>, ValidationOptions])[] = [
  ["an account on the hub's own cluster", account, strict],
  ["targets without an account", { targets: [{ clusterSelector: {} }] }, strict],
  ["no account where none is required", {}, open],
  ["a source of another namespace where that is allowed", { chart: elsewhere }, open],
  [
    "a source of its own namespace that it names",
    { ...account, chartRef: { ...ofRegistry, namespace: "apps" } },
    strict,
  ],
  ["the namespace of the release for the records", { storageNamespace: "apps" }, open],
  [
    "that of a target namespace for the records",
    { storageNamespace: "shop", targetNamespace: "shop" },
    open,
  ],
  ["the default strategy of waiting", { waitStrategy: { name: "poller" } }, open],
  ["dependencies of other namespaces", { dependsOn: [{ name: "a", namespace: "b" }] }, open],
  ["values", { values: { a: 1 } }, open],
  [
    "dependencies and rules for drift up to the limit",
    {
      dependsOn: Array.from({ length: 100 }, (_, at) => ({ name: `db-${at}` })),
      driftDetection: {
        ignore: Array.from({ length: 1_000 }, () => ({ paths: ["/a"], target: { kind: "Pod" } })),
      },
    },
    open,
  ],
];

test.each(accepted)("%s can be deployed", (_, spec, options) => {
  assert.equal(validate(aHelmRelease(spec), options), undefined);
});

test("a HelmRelease without a spec is refused", () => {
  const { spec: _, ...release } = aHelmRelease();
  assert.match(validate(release, open)?.message ?? "", /has no spec/);
});
