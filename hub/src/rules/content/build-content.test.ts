import assert from "node:assert/strict";
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { type DeploymentContent, packContent, unpackContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { rawNumber } from "@flotilla/shared/json";
import { describe, test } from "vitest";
import { httpPin } from "../../testing/index.ts";
import { buildContent, type ContentSource } from "./build-content.ts";

function build(options: BundleDeploymentOptions): DeploymentContent {
  return buildContent({
    bundleName: "web",
    options,
    pin: httpPin("1.2.3"),
  });
}

const defaults = build({});

describe("the content of a deployment", () => {
  test("has Fleet's defaults for unset fields", () => {
    assert.deepEqual(defaults, {
      ...plainContent,
      pin: httpPin("1.2.3"),
      releaseName: "web",
      namespace: "default",
    });
  });

  const cases: readonly (readonly [
    what: string,
    options: BundleDeploymentOptions,
    changes: Partial<DeploymentContent>,
  ])[] = [
    ["a release name", { helm: { releaseName: "shop" } }, { releaseName: "shop" }],
    ["a default namespace", { defaultNamespace: "shop" }, { namespace: "shop" }],
    [
      "a namespace, which overrides the default one",
      { namespace: "a", defaultNamespace: "b" },
      { namespace: "a" },
    ],
    ["empty names", { namespace: "", defaultNamespace: null, helm: { releaseName: null } }, {}],
    ["createNamespace", { createNamespace: false }, { createNamespace: false }],
    ["a number that forces an upgrade", { forceSyncGeneration: 3 }, { forceSyncGeneration: 3 }],
    ["0 as no such number, as in Fleet", { forceSyncGeneration: 0 }, {}],
    ["createNamespace null", { createNamespace: null }, {}],
    ["values", { helm: { values: { a: 1 } } }, { values: { a: 1 } }],
    ["empty values, which are omitted", { helm: { values: {} } }, {}],
    ["null values, which are omitted", { helm: { values: null } }, {}],
    ["keepResources", { keepResources: true }, { keepResources: true }],
    [
      "post-renderers, without what is empty or unknown, and an empty target, which matches everything",
      {
        postRenderers: [
          { kustomize: { patches: [], images: null } },
          {
            kustomize: {
              patches: [
                { patch: "a", target: { kind: "Job", name: "", labelSelector: null } },
                { patch: "b", target: null },
                { patch: "c", target: {} },
              ],
              images: [{ name: "nginx", newTag: "1.27", digest: null, other: "unknown" }],
              other: [],
            },
          },
          {},
        ],
      } as BundleDeploymentOptions,
      {
        format: 2,
        postRenderers: [
          {
            patches: [
              { patch: "a", target: { kind: "Job" } },
              { patch: "b" },
              { patch: "c", target: {} },
            ],
            images: [{ name: "nginx", newTag: "1.27" }],
          },
        ],
      },
    ],
    [
      "common metadata",
      { commonMetadata: { labels: { team: "a" }, annotations: {} } },
      { format: 2, commonMetadata: { labels: { team: "a" } } },
    ],
    [
      "health checks, by group",
      {
        healthCheckExprs: [
          { apiVersion: "example.com/v1", kind: "Thing", current: "true", failed: null },
          { apiVersion: "v1", kind: "", current: "true", inProgress: "false" },
        ],
      },
      {
        format: 2,
        healthCheckExprs: [
          { group: "example.com", kind: "Thing", current: "true" },
          { group: "", current: "true", inProgress: "false" },
        ],
      },
    ],
    ["no health checks, which are omitted", { healthCheckExprs: [] }, {}],
    [
      "post-renderers and metadata that change nothing, which are omitted",
      {
        postRenderers: [{ kustomize: { patches: [] } }, { kustomize: null }],
        commonMetadata: { labels: {}, annotations: null },
      },
      {},
    ],
    [
      "drift options of Flux and of Fleet",
      {
        driftDetection: {
          mode: "warn",
          ignore: [
            { paths: ["/spec/replicas"], target: { kind: "Deployment", name: "" } },
            { paths: [] },
          ],
        },
        correctDrift: { enabled: true, force: true },
        diff: {
          comparePatches: [
            {
              ...{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web.1" },
              operations: [{ op: "remove", path: "/spec/paused" }, { op: "ignore" }],
              jsonPointers: ["/metadata/labels"],
            },
          ],
        },
      },
      {
        drift: {
          mode: "warn",
          ignore: [
            { paths: ["/spec/replicas"], target: { kind: "Deployment" } },
            {
              paths: ["/spec/paused", "/metadata/labels"],
              target: {
                ...{ group: "apps", version: "v1", kind: "Deployment", namespace: "shop" },
                name: "web\\.1",
              },
            },
            {
              paths: [""],
              target: {
                ...{ group: "apps", version: "v1", kind: "Deployment", namespace: "shop" },
                name: "(?s:.*)(?:web.1)(?s:.*)",
              },
            },
          ],
        },
      },
    ],
    [
      "correctDrift, where Flux's mode is not set",
      { driftDetection: { ignore: null }, correctDrift: { enabled: true, force: true } },
      { drift: { mode: "enabled", force: true } },
    ],
    [
      "drift options that change nothing, which are omitted",
      {
        driftDetection: { mode: null, ignore: [] },
        correctDrift: { enabled: false, force: true },
        diff: { comparePatches: [{ kind: "Job" }] },
      },
      {},
    ],
    ["deleteCRDResources", { deleteCRDResources: true }, { deleteCRDResources: true }],
    ["deleteCRDResources, omitted while it is false", { deleteCRDResources: false }, {}],
    [
      "template values",
      { helm: { templateValues: { region: "eu" } } },
      { templateValues: { region: "eu" } },
    ],
    [
      "values with templating disabled, without template values",
      { helm: { disablePreProcess: true, templateValues: { region: "eu" } } },
      { valuesAreTemplates: false },
    ],
    [
      "values from objects of the cluster, in their order",
      {
        helm: {
          valuesFrom: [
            { secretKeyRef: { name: "late", namespace: "shop", key: "a.yaml" } },
            { configMapKeyRef: { name: "early" } },
            { secretKeyRef: { name: "over" }, configMapKeyRef: { name: "under", key: "" } },
          ],
        },
      },
      {
        valuesFrom: [
          { kind: "Secret", name: "late", namespace: "shop", key: "a.yaml" },
          { kind: "ConfigMap", name: "early", key: "values.yaml" },
          { kind: "ConfigMap", name: "under", key: "values.yaml" },
          { kind: "Secret", name: "over", key: "values.yaml" },
        ],
      },
    ],
    [
      "downstream resources, with any spelling of their kind",
      {
        downstreamResources: [
          { kind: "secret", name: "a" },
          { kind: "ConfigMap", name: "b" },
        ],
      },
      {
        copies: [
          { kind: "Secret", name: "a" },
          { kind: "ConfigMap", name: "b" },
        ],
      },
    ],
    [
      "ignored conditions",
      { ignore: { conditions: [{ type: "Ready", status: "False" }] } },
      { ignoredConditions: [{ type: "Ready", status: "False" }] },
    ],
    ["no ignored conditions, which are omitted", { ignore: { conditions: [] } }, {}],
    ["a service account", { serviceAccount: "deployer" }, { serviceAccount: "deployer" }],
    [
      "labels and annotations of the namespace",
      { namespaceLabels: { a: "b" }, namespaceAnnotations: { c: "d" } },
      { namespaceLabels: { a: "b" }, namespaceAnnotations: { c: "d" } },
    ],
    [
      "a timeout",
      { helm: { timeoutSeconds: 60 } },
      { helm: { ...defaults.helm, timeoutSeconds: 60 } },
    ],
    [
      "disableLookup false, which is not omitted",
      { helm: { disableDNS: false, disableLookup: false } },
      { helm: { ...defaults.helm, disableDNS: false, disableLookup: false } },
    ],
    ["a timeout below 0, which is omitted", { helm: { timeoutSeconds: -1 } }, {}],
    ["a history", { helm: { maxHistory: 7 } }, { helm: { ...defaults.helm, maxHistory: 7 } }],
    ["a history of 0, which is the default", { helm: { maxHistory: 0 } }, {}],
    ["a history below 0, which is the default", { helm: { maxHistory: -1 } }, {}],
    [
      "a history of 0 by Flux's option, which keeps all",
      { maxHistory: 0, helm: { maxHistory: 7 } },
      { helm: { ...defaults.helm, maxHistory: 0 } },
    ],
    [
      "the options of actions, with their times in seconds and without unknown fields",
      {
        timeout: "1m30s",
        install: { timeout: "500ms", disableWait: true, unknown: 1 } as object,
        upgrade: { force: false, serverSideApply: "disabled" },
        uninstall: { timeout: null, keepHistory: true },
      },
      {
        format: 2,
        actions: {
          timeoutSeconds: 90,
          install: { timeoutSeconds: 0.5, disableWait: true },
          upgrade: { force: false, serverSideApply: "disabled" },
          uninstall: { keepHistory: true },
        },
      },
    ],
    ...(
      [
        "atomic",
        "force",
        "takeOwnership",
        "waitForJobs",
        "disableDNS",
        "disableLookup",
        "skipSchemaValidation",
      ] as const
    ).map(
      (name) =>
        [name, { helm: { [name]: true } }, { helm: { ...defaults.helm, [name]: true } }] as const,
    ),
  ];
  for (const [what, options, changes] of cases) {
    test(`has ${what}, and the agent can parse it`, async () => {
      const content = build(options);

      assert.deepEqual(content, { ...defaults, ...changes });
      assert.deepEqual(await unpackContent(await packContent(content)), content);
    });
  }

  test("says which methods a user has chosen, and not which ones are defaults of a HelmRelease", () => {
    const options = {
      install: { serverSideApply: true },
      upgrade: { serverSideApply: "enabled" },
      rollback: { serverSideApply: "auto" },
    } as const;
    const source = { bundleName: "web", options, pin: httpPin("1.2.3") };
    const origin = { kind: "HelmRelease", name: "web" } as const;
    const chosenOf = (more: Partial<ContentSource>) =>
      buildContent({ ...source, ...more }).actions?.chosenMethods;

    assert.deepEqual(chosenOf({}), ["install", "upgrade"]);
    assert.equal(chosenOf({ origin }), undefined);
    assert.deepEqual(chosenOf({ origin: { ...origin, chosenMethods: ["install"] } }), ["install"]);
  });

  test("has the Bundle's labels and dependencies, without empty fields", async () => {
    const content = buildContent({
      bundleName: "web",
      labels: { tier: "base" },
      dependsOn: [
        { name: "db", selector: null, acceptedStates: [] },
        { name: "", selector: { matchLabels: { a: "b" } }, acceptedStates: ["NotReady"] },
        { name: "cache", readyExpr: "" },
      ],
      options: {},
      pin: httpPin("1.2.3"),
    });

    const dependsOn = [
      { name: "db" },
      { selector: { matchLabels: { a: "b" } }, acceptedStates: ["NotReady"] },
      { name: "cache" },
    ];
    assert.deepEqual(content, { ...defaults, labels: { tier: "base" }, dependsOn });
    assert.deepEqual(await unpackContent(await packContent(content)), content);
  });

  test("has a format that older agents reject where a dependency has an expression", () => {
    const { format, dependsOn } = buildContent({
      bundleName: "web",
      dependsOn: [{ name: "db", readyExpr: "dep.status.ready" }],
      options: {},
      pin: httpPin("1.2.3"),
    });

    assert.deepEqual(dependsOn, [{ name: "db", readyExpr: "dep.status.ready" }]);
    assert.equal(format, 2);
  });

  test("derives the release name from the Bundle's name as Fleet does", () => {
    const { releaseName } = buildContent({
      bundleName: "a".repeat(60),
      options: {},
      pin: httpPin("1.2.3"),
    });

    assert.equal(releaseName.length, 53);
    assert.match(releaseName, /^a{47}-[0-9a-f]{5}$/);
  });

  test("keeps every digit of a number in values", async () => {
    const content = build({ helm: { values: { id: rawNumber("12345678901234567890") } } });

    const read = await unpackContent(await packContent(content));

    assert.equal(JSON.stringify(read.values), '{"id":12345678901234567890}');
  });
});
