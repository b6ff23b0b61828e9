import assert from "node:assert/strict";
import type { BundleDeploymentOptions, HelmOptions } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { mergeOptions } from "./merge.ts";

test("health checks of a target, also an empty list, replace those of the Bundle", () => {
  const base = { healthCheckExprs: [{ apiVersion: "v1", current: "true" }] };
  const other = { healthCheckExprs: [{ apiVersion: "apps/v1", current: "false" }] };

  assert.deepEqual(mergeOptions(base, {}), base);
  assert.deepEqual(mergeOptions(base, { healthCheckExprs: null }), base);
  assert.deepEqual(mergeOptions(base, other), other);
  assert.deepEqual(mergeOptions(base, { healthCheckExprs: [] }), { healthCheckExprs: [] });
});

describe("options of a target over those of the Bundle", () => {
  const base: BundleDeploymentOptions = {
    defaultNamespace: "base",
    namespace: "base-only",
    serviceAccount: "deployer",
    createNamespace: true,
    forceSyncGeneration: 3,
    correctDrift: { enabled: true },
    allowedTargetNamespaceSelector: { matchLabels: { tier: "gold" } },
    driftDetection: { mode: "warn", ignore: [{ paths: ["/spec/replicas"] }] },
    maxHistory: 5,
    install: { disableWait: true },
    upgrade: { force: true, cleanupOnFail: true },
    namespaceLabels: { owner: "a", team: "a" },
    downstreamResources: [{ kind: "Secret", name: "a" }],
    diff: {
      comparePatches: [
        { kind: "Deployment", name: "web" },
        { kind: "Service", name: "web" },
      ],
    },
  };
  const cases: readonly (readonly [
    what: string,
    over: BundleDeploymentOptions,
    changes: Partial<BundleDeploymentOptions>,
  ])[] = [
    ["nothing changes nothing", {}, {}],
    ["a text replaces", { namespace: "target" }, { namespace: "target" }],
    ["an empty string does not replace", { namespace: "", defaultNamespace: null }, {}],
    ["createNamespace false replaces", { createNamespace: false }, { createNamespace: false }],
    ["createNamespace null does not replace", { createNamespace: null }, {}],
    ["a number replaces", { forceSyncGeneration: 4 }, { forceSyncGeneration: 4 }],
    ["zero does not replace a number", { forceSyncGeneration: 0 }, {}],
    [
      "correctDrift replaces as a whole",
      { correctDrift: { force: true } },
      { correctDrift: { force: true } },
    ],
    [
      "the mode of drift detection replaces, and the rules stay",
      { driftDetection: { mode: "enabled", ignore: null } },
      { driftDetection: { mode: "enabled", ignore: [{ paths: ["/spec/replicas"] }] } },
    ],
    [
      "the rules of drift detection replace as a whole, also by none",
      { driftDetection: { mode: null, ignore: [] } },
      { driftDetection: { mode: "warn", ignore: [] } },
    ],
    [
      "deleteNamespace applies in a target too",
      { deleteNamespace: true },
      { deleteNamespace: true },
    ],
    ["suspend applies in a target too", { suspend: true }, { suspend: true }],
    [
      "a selector of allowed namespaces applies besides that of the Bundle",
      { allowedTargetNamespaceSelector: { matchLabels: { team: "b" } } },
      {
        allowedTargetNamespaceSelector: {
          matchLabels: { tier: "gold" },
          matchExpressions: [{ key: "team", operator: "In", values: ["b"] }],
        },
      },
    ],
    [
      "labels of the namespace are merged by name",
      { namespaceLabels: { team: "b", tier: "gold" } },
      { namespaceLabels: { owner: "a", team: "b", tier: "gold" } },
    ],
    [
      "annotations of the namespace apply when the Bundle has none",
      { namespaceAnnotations: { team: "b" } },
      { namespaceAnnotations: { team: "b" } },
    ],
    [
      "downstream resources are merged by kind and name",
      {
        downstreamResources: [
          { kind: "secret", name: "a" },
          { kind: "ConfigMap", name: "a" },
        ],
      },
      {
        downstreamResources: [
          { kind: "secret", name: "a" },
          { kind: "ConfigMap", name: "a" },
        ],
      },
    ],
    [
      "patches of the comparison are merged by object",
      {
        diff: {
          comparePatches: [{ kind: "Deployment", name: "web", jsonPointers: ["/spec/replicas"] }],
        },
      },
      {
        diff: {
          comparePatches: [
            { kind: "Deployment", name: "web", jsonPointers: ["/spec/replicas"] },
            { kind: "Service", name: "web" },
          ],
        },
      },
    ],
    [
      "options of actions are merged by field, and false and 0 take precedence",
      {
        timeout: "2m",
        maxHistory: 0,
        upgrade: { force: false },
        uninstall: { keepHistory: true },
      },
      {
        timeout: "2m",
        maxHistory: 0,
        install: { disableWait: true },
        upgrade: { force: false, cleanupOnFail: true },
        uninstall: { keepHistory: true },
      },
    ],
    [
      "Helm options apply when the Bundle has none",
      { helm: { chart: "web" } },
      { helm: { chart: "web" } },
    ],
  ];
  for (const [what, over, changes] of cases) {
    test(what, () => {
      assert.deepEqual(mergeOptions(base, over), { ...base, ...changes });
    });
  }

  for (const [below, above, expected] of [
    [undefined, undefined, undefined],
    [false, undefined, false],
    [false, true, true],
    [true, false, true],
    [true, undefined, true],
    [undefined, true, true],
  ] as const) {
    test(`a switch that is ${below} with ${above} over it is ${expected}`, () => {
      const merged = mergeOptions(
        { ...(below !== undefined && { keepResources: below }) },
        { ...(above !== undefined && { keepResources: above }) },
      );

      assert.equal(merged.keepResources, expected);
    });
  }
});

describe("Helm options of a target over those of the Bundle", () => {
  const base: HelmOptions = {
    repo: "https://charts.example.com",
    chart: "web",
    version: "1.2.3",
    releaseName: "web",
    timeoutSeconds: 30,
    maxHistory: 5,
    values: { a: 1 },
  };
  const cases: readonly (readonly [
    what: string,
    over: HelmOptions,
    changes: Partial<HelmOptions>,
  ])[] = [
    ["nothing changes nothing", {}, {}],
    ["a version replaces", { version: "1.2.4" }, { version: "1.2.4" }],
    ["a null does not replace", { version: null, repo: null, chart: "" }, {}],
    ["a release name replaces", { releaseName: "shop" }, { releaseName: "shop" }],
    ["a timeout replaces", { timeoutSeconds: 60 }, { timeoutSeconds: 60 }],
    ["a timeout of 0 does not replace", { timeoutSeconds: 0 }, {}],
    ["a timeout below 0 removes the Bundle's", { timeoutSeconds: -1 }, { timeoutSeconds: 0 }],
    ["values are merged", { values: { b: 2 } }, { values: { a: 1, b: 2 } }],
    [
      "maxHistory and skipSchemaValidation apply in a target too",
      { maxHistory: 9, skipSchemaValidation: true },
      { maxHistory: 9, skipSchemaValidation: true },
    ],
    [
      "template values are merged by name",
      { templateValues: { region: "eu" } },
      { templateValues: { region: "eu" } },
    ],
    [
      "values from objects are added once each",
      { valuesFrom: [{ secretKeyRef: { name: "a" } }, { secretKeyRef: { name: "a" } }] },
      { valuesFrom: [{ secretKeyRef: { name: "a" } }, { secretKeyRef: { name: "a" } }] },
    ],
    ...(
      [
        "force",
        "takeOwnership",
        "waitForJobs",
        "atomic",
        "disablePreProcess",
        "disableDNS",
        "disableLookup",
      ] as const
    ).map((name) => [`${name} is ORed`, { [name]: true }, { [name]: true }] as const),
  ];
  for (const [what, over, changes] of cases) {
    test(what, () => {
      assert.deepEqual(mergeOptions({ helm: base }, { helm: over }).helm, { ...base, ...changes });
    });
  }

  test("a switch of the Bundle is not turned off by a target", () => {
    const merged = mergeOptions({ helm: { atomic: true } }, { helm: { atomic: false } });

    assert.equal(merged.helm?.atomic, true);
  });
});

describe("disableLookup of a target", () => {
  const cases = [
    ["applies when the Bundle has none", undefined, false, false],
    ["does not apply when it is unset", false, undefined, false],
    ["forbids what the Bundle allows", false, true, true],
    ["cannot allow what the Bundle forbids", true, false, true],
  ] as const;
  for (const [what, base, over, merged] of cases) {
    test(what, () => {
      const options = (disableLookup: boolean | undefined) => ({
        helm: { ...(disableLookup !== undefined && { disableLookup }) },
      });

      assert.deepEqual(mergeOptions(options(base), options(over)), options(merged));
    });
  }
});

describe("post-renderers and common metadata of a target", () => {
  const renderer = (newTag: string) => ({ kustomize: { images: [{ name: "nginx", newTag }] } });
  const base = {
    postRenderers: [renderer("1"), renderer("2")],
    commonMetadata: { labels: { team: "a", tier: "web" }, annotations: { note: "base" } },
  };
  const cases = [
    ["are those of the Bundle where it has none", {}, {}],
    [
      "replace the Bundle's list, whose order matters",
      { postRenderers: [renderer("3")] },
      { postRenderers: [renderer("3")] },
    ],
    ["turn post-rendering off by an empty list", { postRenderers: [] }, { postRenderers: [] }],
    ["are ignored when they are null", { postRenderers: null, commonMetadata: null }, {}],
    [
      "are merged over the Bundle's labels and annotations by their names",
      { commonMetadata: { labels: { team: "b" }, annotations: null } },
      {
        commonMetadata: { labels: { team: "b", tier: "web" }, annotations: { note: "base" } },
      },
    ],
  ] as const;
  for (const [what, over, changes] of cases) {
    test(what, () => {
      assert.deepEqual(mergeOptions(base, over), { ...base, ...changes });
    });
  }
});
