import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api";
import { rawNumber } from "@flotilla/shared/json";
import { test } from "vitest";
import { aRelease } from "../../testing/index.ts";
import { validate } from "./validate.ts";

const helm = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };

const accepted: readonly (readonly [what: string, spec: HelmOp["spec"]])[] = [
  ["a chart of a repository", {}],
  ["a chart of a registry", { helm: { repo: "oci://registry.example.com/web" } }],
  ["an archive", { helm: { chart: "https://x.example/a.tgz" } }],
  [
    "empty lists",
    {
      helm: { ...helm, valuesFrom: [], templateValues: {} },
      downstreamResources: null,
      dependsOn: [],
      helmSecretName: "",
      namespaceLabels: {},
    },
  ],
  [
    "credentials, downstream resources, values from objects and templates",
    {
      helm: {
        ...helm,
        values: { a: "${ .ClusterName }" },
        templateValues: { region: "${ .ClusterLabels.region }" },
        valuesFrom: [
          { configMapKeyRef: { name: "defaults" } },
          { secretKeyRef: { name: "overrides", namespace: "shop", key: "a.yaml" } },
        ],
      },
      downstreamResources: [
        { kind: "Secret", name: "overrides" },
        { kind: "configmap", name: "defaults" },
      ],
      helmSecretName: "login",
    },
  ],
  [
    "values that contain template syntax, with templating disabled",
    { helm: { ...helm, disablePreProcess: true, values: { a: "${ .ClusterName }" } } },
  ],
  [
    "a ServiceAccount, namespace metadata and dependencies",
    {
      serviceAccount: "deployer",
      namespaceLabels: { a: "b" },
      namespaceAnnotations: { c: "d" },
      dependsOn: [
        { name: "db", acceptedStates: ["Ready", "Modified"] },
        { name: "queue", readyExpr: "dep.status.ready && self.metadata.name != ''" },
        { name: "cache", readyExpr: "" },
        { selector: { matchLabels: { tier: "base" } } },
      ],
    },
  ],
  [
    "expressions for the readiness of objects",
    {
      healthCheckExprs: [
        { apiVersion: "v1", kind: null, current: "data.ready == 'yes'", failed: "" },
        {
          apiVersion: "example.com/v1",
          kind: "Thing",
          inProgress: "!has(status.phase)",
          failed: "status.phase == 'Failed'",
          current: "status.phase == 'Running'",
        },
      ],
    },
  ],
  [
    "restrictions of the targets, and no selector of namespaces",
    { targetRestrictions: [{ clusterGroup: "prod" }], allowedTargetNamespaceSelector: null },
  ],
  [
    "as many targets as the limit",
    { targets: Array.from({ length: 1_000 }, () => ({ clusterName: "a" })) },
  ],
  [
    "a rollout strategy as users of Fleet write it",
    {
      rolloutStrategy: {
        maxUnavailable: "10%",
        maxUnavailablePartitions: 1,
        autoPartitionSize: "0.1%",
        partitions: [{ name: "a", maxUnavailable: 0, clusterSelector: {} }, {}],
      },
    },
  ],
  ["values with a lone $", { helm: { ...helm, values: { a: "$5 {ok}" } } }],
  [
    "values with a long number",
    { helm: { ...helm, values: { id: rawNumber("12345678901234567890") } } },
  ],
];
for (const [what, spec] of accepted) {
  test(`${what} is valid`, () => {
    assert.equal(validate(aRelease(spec)), undefined);
  });
}

const invalid: readonly (readonly [
  what: string,
  spec: HelmOp["spec"],
  code: string,
  message: RegExp,
])[] = [
  [
    "a limit of a rollout that is not a number",
    { rolloutStrategy: { maxUnavailable: "ten" } },
    "HELMOP_INVALID",
    /^spec\.rolloutStrategy\.maxUnavailable is "ten": write a whole number/,
  ],
  [
    "a size of partitions that is not a number",
    { rolloutStrategy: { autoPartitionSize: "0" } },
    "HELMOP_INVALID",
    /^spec\.rolloutStrategy\.autoPartitionSize is "0"/,
  ],
  [
    "a limit of a partition that is not a number",
    { rolloutStrategy: { partitions: [{}, { maxUnavailable: " 10%" }] } },
    "HELMOP_INVALID",
    /^spec\.rolloutStrategy\.partitions\[1\]\.maxUnavailable is " 10%"/,
  ],
  [
    "a selector of a partition that nothing matches",
    {
      rolloutStrategy: {
        partitions: [{ clusterSelector: { matchLabels: { "a b": "c" } } }],
      },
    },
    "HELMOP_INVALID",
    /^spec\.rolloutStrategy\.partitions\[0\]\.clusterSelector cannot be used/,
  ],
  [
    "more partitions than the limit",
    {
      rolloutStrategy: {
        partitions: Array.from({ length: 1_001 }, () => ({ clusterName: "a" })),
      },
    },
    "HELMOP_INVALID",
    /^spec\.rolloutStrategy\.partitions has 1001 entries/,
  ],
  ["no Helm options", { helm: null }, "HELMOP_INVALID", /spec\.helm is empty: name a chart/],
  ["empty Helm options", { helm: {} }, "HELMOP_INVALID", /spec\.helm is empty: name a chart/],
  [
    "Helm options with null and empty fields",
    { helm: { repo: "", chart: null } },
    "HELMOP_INVALID",
    /spec\.helm is empty: name a chart/,
  ],
  [
    "no repo and no chart, beside other options",
    { helm: { repo: "", chart: "", version: "1.x", values: { a: 1 } } },
    "CHART_SOURCE_INVALID",
    /helm\.repo and helm\.chart are empty/,
  ],
  ["no chart", { helm: { repo: helm.repo } }, "CHART_SOURCE_INVALID", /helm\.chart is empty/],
  [
    "an archive with a version",
    { helm: { chart: "https://x.example/a.tgz", version: "1" } },
    "CHART_SOURCE_INVALID",
    /helm\.version must be empty/,
  ],
  [
    "a registry with a chart",
    { helm: { ...helm, repo: "oci://x.example/a" } },
    "CHART_SOURCE_INVALID",
    /helm\.chart must be empty/,
  ],
  [
    "an account in the form that only the hub writes",
    { serviceAccount: "system:serviceaccount:kube-system:admin" },
    "HELMOP_INVALID",
    /^spec\.serviceAccount is system:serviceaccount:kube-system:admin; set the name of an account/,
  ],
  [
    "such an account in a target",
    { targets: [{}, { serviceAccount: "system:serviceaccount:a:b" }] },
    "HELMOP_INVALID",
    /^spec\.targets\[1\]\.serviceAccount is /,
  ],
  [
    "a Secret of another namespace for the chart's source",
    { helmSecretName: "kube-system/login" },
    "HELMOP_INVALID",
    /^spec\.helmSecretName is kube-system\/login; set the name of a Secret in the namespace of this/,
  ],
  [
    "an object of another namespace to copy",
    { downstreamResources: [{ kind: "ConfigMap", name: "kube-system/login" }] },
    "HELMOP_INVALID",
    /^spec\.downstreamResources\[0\]\.name is kube-system\/login; set the name of an object in/,
  ],
  [
    "an invalid selector",
    { targets: [{}, { clusterSelector: { matchExpressions: [{ key: "env", operator: "In" }] } }] },
    "HELMOP_INVALID",
    /^spec\.targets\[1\]\.clusterSelector cannot be used: In for the label env has no values/,
  ],
  [
    "an invalid selector of groups",
    { targets: [{ clusterGroupSelector: { matchLabels: { "a b": "c" } } }] },
    "HELMOP_INVALID",
    /^spec\.targets\[0\]\.clusterGroupSelector cannot be used: "a b" cannot be the name/,
  ],
  [
    "an invalid selector of a restriction",
    { targetRestrictions: [{}, { clusterSelector: { matchLabels: { "a b": "c" } } }] },
    "HELMOP_INVALID",
    /^spec\.targetRestrictions\[1\]\.clusterSelector cannot be used: "a b" cannot be the name/,
  ],
  [
    "an invalid selector of the namespaces that it may deploy to",
    { allowedTargetNamespaceSelector: { matchLabels: { "a b": "c" } } },
    "HELMOP_INVALID",
    /^spec\.allowedTargetNamespaceSelector cannot be used: "a b" cannot be the name/,
  ],
  [
    "such a selector of a target",
    { targets: [{}, { allowedTargetNamespaceSelector: { matchLabels: { "a b": "c" } } }] },
    "HELMOP_INVALID",
    /^spec\.targets\[1\]\.allowedTargetNamespaceSelector cannot be used/,
  ],
  [
    "too many targets",
    { targets: Array.from({ length: 1_001 }, () => ({ clusterName: "a" })) },
    "HELMOP_INVALID",
    /^spec\.targets has 1001 entries, more than the limit of 1000: select several clusters with/,
  ],
  [
    "too many restrictions",
    { targetRestrictions: Array.from({ length: 1_001 }, () => ({ clusterName: "a" })) },
    "HELMOP_INVALID",
    /^spec\.targetRestrictions has 1001 entries, more than the limit of 1000/,
  ],
  [
    "too many dependencies",
    { dependsOn: Array.from({ length: 101 }, () => ({ name: "db" })) },
    "HELMOP_INVALID",
    /^spec\.dependsOn has 101 entries, more than the limit of 100: leave out those that other/,
  ],
  [
    "an empty dependency",
    { dependsOn: [{ name: "db" }, { acceptedStates: ["Ready"] }] },
    "HELMOP_INVALID",
    /^spec\.dependsOn\[1\] is empty: set name or selector/,
  ],
  [
    "a dependency on itself",
    { dependsOn: [{ name: "web" }] },
    "HELMOP_INVALID",
    /^spec\.dependsOn\[0\] is the HelmOp itself/,
  ],
  [
    "a dependency with invalid labels",
    { dependsOn: [{ selector: { matchLabels: { "a b": "c" } } }] },
    "HELMOP_INVALID",
    /^spec\.dependsOn\[0\]\.selector cannot be used: "a b" cannot be the name/,
  ],
  [
    "a dependency on an unknown state",
    { dependsOn: [{ name: "db", acceptedStates: ["Ready", "ready"] }] },
    "HELMOP_INVALID",
    /^spec\.dependsOn\[0\]\.acceptedStates has "ready", which is none of ErrApplied, .*, Ready$/,
  ],
  [
    "a dependency with an invalid expression",
    { dependsOn: [{ name: "db", readyExpr: "dep.status.ready &&" }] },
    "HELMOP_INVALID",
    /^spec\.dependsOn\[0\]\.readyExpr is not a valid CEL expression: .* \(line 1, column 20\)$/,
  ],
  [
    "a dependency with an expression over something else",
    { dependsOn: [{ name: "db", readyExpr: "deb.status.ready" }] },
    "HELMOP_INVALID",
    /^spec\.dependsOn\[0\]\.readyExpr is not a valid CEL expression: there is no deb; there are self, dep/,
  ],
  [
    "a health check with an invalid expression, in a target",
    { targets: [{ healthCheckExprs: [{ apiVersion: "v1", current: "true", failed: "nofn()" }] }] },
    "HELMOP_INVALID",
    /^spec\.targets\[0\]\.healthCheckExprs\[0\]\.failed is not a valid CEL expression: there is no function nofn\(\)/,
  ],
  [
    "a health check without an expression",
    { healthCheckExprs: [{ apiVersion: "v1", current: "" }] },
    "HELMOP_INVALID",
    /^spec\.healthCheckExprs\[0\]\.current is empty: set the expression/,
  ],
  [
    "a health check of no apiVersion",
    { healthCheckExprs: [{ apiVersion: "a/b/c", current: "true" }] },
    "HELMOP_INVALID",
    /^spec\.healthCheckExprs\[0\]\.apiVersion is "a\/b\/c"; set one such as example\.com\/v1$/,
  ],
  [
    "values without a source",
    { helm: { ...helm, valuesFrom: [{ secretKeyRef: { name: "a" } }, {}] } },
    "HELMOP_INVALID",
    /^spec\.helm\.valuesFrom\[1\] is empty: set configMapKeyRef or secretKeyRef$/,
  ],
  [
    "values from an object without a name",
    { targets: [{ helm: { valuesFrom: [{ configMapKeyRef: { key: "a.yaml" } }] } }] },
    "HELMOP_INVALID",
    /^spec\.targets\[0\]\.helm\.valuesFrom\[0\]\.configMapKeyRef has no name: set the name of the object to read$/,
  ],
  [
    "a downstream resource of an unsupported kind",
    {
      downstreamResources: [
        { kind: "secret", name: "a" },
        { kind: "Deployment", name: "web" },
      ],
    },
    "HELMOP_INVALID",
    /^spec\.downstreamResources\[1\]\.kind is "Deployment"; only a Secret or a ConfigMap can be copied$/,
  ],
  [
    "a downstream resource without a name, in a target",
    { targets: [{}, { downstreamResources: [{ kind: "ConfigMap" }] }] },
    "HELMOP_INVALID",
    /^spec\.targets\[1\]\.downstreamResources\[0\] has no name: set the name of the ConfigMap to copy$/,
  ],
  [
    "a JSON patch without a target, in a target",
    {
      targets: [
        {
          postRenderers: [{ kustomize: { patches: [{ patch: "- {op: remove, path: /data}" }] } }],
        },
      ],
    },
    "HELMOP_INVALID",
    /^spec\.targets\[0\]\.postRenderers\[0\]\.kustomize\.patches\[0\]\.patch is a JSON patch, which names no object: set a target beside it$/,
  ],
];
for (const [what, spec, code, message] of invalid) {
  test(`a HelmOp with ${what} is invalid`, () => {
    const error = validate(aRelease(spec));

    assert.equal(error?.code, code);
    assert.match(error.message, message);
    assert.equal(error.retryable, false);
  });
}

test("a name that is too long for a label is invalid", () => {
  assert.equal(validate(aRelease({}, { name: "a".repeat(63) })), undefined);
  assert.match(
    validate(aRelease({}, { name: "a".repeat(64) }))?.message ?? "",
    /has 64 characters/,
  );
});

const checked = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

function patched(patch: string) {
  return { postRenderers: [{ kustomize: { patches: [{ patch }] } }] };
}

function withExpression(failed: string) {
  return { healthCheckExprs: [{ apiVersion: "v1", current: "true", failed }] };
}

/** Options that each have room in the budget of their object, and not together. */
const kinds = [
  ["patches", (at: number) => patched(`${checked}data: {a: ${String(at).padEnd(4_000, "a")}}`)],
  ["expressions", (at: number) => withExpression(`'${String(at).padEnd(4_000, "a")}' == ''`)],
] as const;
for (const [what, long] of kinds) {
  const wrong = what === "patches" ? patched("hello") : withExpression("nofn()");

  test(`${what} of all targets count together, and agents validate those beyond the budget`, () => {
    const targets = Array.from({ length: 90 }, (_, at) => long(at));

    assert.ok(validate(aRelease({ targets: [long(0), wrong] })));
    assert.equal(validate(aRelease({ targets: [...targets, wrong] })), undefined);
    assert.equal(
      validate(aRelease({ ...long(-1), targets: [...targets.slice(0, 4), wrong] })),
      undefined,
    );
  });

  test(`${what} that targets repeat count once`, () => {
    const targets = Array.from({ length: 90 }, () => long(0));

    assert.match(validate(aRelease({ targets: [...targets, wrong] }))?.message ?? "", /\[90\]/);
  });
}
