import assert from "node:assert/strict";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";
import { test } from "vitest";
import { chosenMethods, releaseOptions } from "./options.ts";
import { aHelmRelease } from "./testing/index.ts";

function optionsOf(spec: Partial<HelmReleaseSpec>) {
  const release = aHelmRelease(spec);
  assert.ok(release.spec !== undefined);
  return releaseOptions(release.spec);
}

test("without options it has Flux's defaults, and not Fleet's", () => {
  assert.deepEqual(optionsOf({}), {
    timeout: "5m",
    maxHistory: 5,
    install: {
      disableWaitForJobs: false,
      disableTakeOwnership: false,
      serverSideApply: true,
      strategy: { name: "RemediateOnFailure" },
      remediation: {},
    },
    upgrade: {
      disableWaitForJobs: false,
      disableTakeOwnership: false,
      chartNameChangeStrategy: "Reinstall",
      strategy: { name: "RemediateOnFailure" },
      remediation: {},
      serverSideApply: "enabled",
    },
    rollback: { disableWaitForJobs: false, serverSideApply: "enabled" },
    uninstall: { disableWait: false },
    driftDetection: { mode: "disabled" },
  });
});

test("a method is chosen where the HelmRelease has it, or the action before with auto", () => {
  const cases: readonly (readonly [Partial<HelmReleaseSpec>, readonly string[]])[] = [
    [{}, []],
    [{ install: { serverSideApply: false }, upgrade: { serverSideApply: "auto" } }, []],
    [{ install: { serverSideApply: true } }, ["install", "upgrade", "rollback"]],
    [{ upgrade: { serverSideApply: "enabled" } }, ["upgrade", "rollback"]],
    [{ install: { serverSideApply: true }, upgrade: { serverSideApply: "disabled" } }, ["install"]],
    [{ rollback: { serverSideApply: "enabled" } }, ["rollback"]],
  ];
  for (const [spec, expected] of cases)
    assert.deepEqual(chosenMethods({ interval: "1m", ...spec }), expected);
});

const background = { deletionPropagation: "background" } as const;
const filter = { name: "smoke", exclude: true };
const ignored = { paths: ["/spec/replicas"], target: { kind: "Deployment" } };
const renderer = { kustomize: { images: [{ name: "web", newTag: "2" }] } };
const check = { apiVersion: "example.com/v1", kind: "Thing", current: "true" };

/** A row for each option of each action: its name, and a value that is not the default. */
const changed: readonly (readonly [
  spec: Partial<HelmReleaseSpec>,
  path: string,
  expected: unknown,
])[] = [
  [{ timeout: "1m" }, "timeout", "1m"],
  [{ maxHistory: 0 }, "maxHistory", 0],
  [{ install: { timeout: "1m" } }, "install.timeout", "1m"],
  [{ install: { disableWait: true } }, "install.disableWait", true],
  [{ install: { disableWaitForJobs: true } }, "install.disableWaitForJobs", true],
  [{ install: { disableHooks: true } }, "install.disableHooks", true],
  [{ install: { disableOpenAPIValidation: true } }, "install.disableOpenAPIValidation", true],
  [{ install: { disableOpenAPIValidation: false } }, "install.disableOpenAPIValidation", false],
  [{ install: { disableSchemaValidation: true } }, "install.disableSchemaValidation", true],
  [{ install: { disableTakeOwnership: true } }, "install.disableTakeOwnership", true],
  [{ install: { serverSideApply: false } }, "install.serverSideApply", false],
  [{ install: { crds: "CreateReplace" } }, "install.crds", "CreateReplace"],
  [{ install: { crds: "Skip" } }, "install.crds", "Skip"],
  [{ install: { skipCRDs: true } }, "install.crds", "Skip"],
  [{ install: { skipCRDs: true } }, "install.skipCRDs", undefined],
  [{ install: { skipCRDs: false } }, "install.crds", undefined],
  [{ install: { createNamespace: true } }, "install.createNamespace", undefined],
  [{ install: { replace: true } }, "install.replace", true],
  [{ install: { remediation: { retries: 3 } } }, "install.remediation", { retries: 3 }],
  [
    { install: { remediation: { ignoreTestFailures: true, remediateLastFailure: true } } },
    "install.remediation",
    { ignoreTestFailures: true, remediateLastFailure: true },
  ],
  [
    { install: { strategy: { name: "RetryOnFailure", retryInterval: "1m" } } },
    "install.strategy",
    { name: "RetryOnFailure", retryInterval: "1m" },
  ],
  [{ upgrade: { timeout: "1m" } }, "upgrade.timeout", "1m"],
  [{ upgrade: { disableWait: true } }, "upgrade.disableWait", true],
  [{ upgrade: { disableWaitForJobs: true } }, "upgrade.disableWaitForJobs", true],
  [{ upgrade: { disableHooks: true } }, "upgrade.disableHooks", true],
  [{ upgrade: { disableOpenAPIValidation: true } }, "upgrade.disableOpenAPIValidation", true],
  [{ upgrade: { disableSchemaValidation: true } }, "upgrade.disableSchemaValidation", true],
  [{ upgrade: { disableTakeOwnership: true } }, "upgrade.disableTakeOwnership", true],
  [{ upgrade: { serverSideApply: "enabled" } }, "upgrade.serverSideApply", "enabled"],
  [{ upgrade: { serverSideApply: "auto" } }, "upgrade.serverSideApply", "enabled"],
  [{ upgrade: { serverSideApply: "disabled" } }, "upgrade.serverSideApply", "disabled"],
  [{ upgrade: { serverSideApply: "disabled" } }, "rollback.serverSideApply", "disabled"],
  [{ install: { serverSideApply: false } }, "upgrade.serverSideApply", "disabled"],
  [{ install: { serverSideApply: false } }, "rollback.serverSideApply", "disabled"],
  [{ upgrade: { crds: "Create" } }, "upgrade.crds", "Create"],
  [{ upgrade: { force: true } }, "upgrade.force", true],
  [{ upgrade: { cleanupOnFail: true } }, "upgrade.cleanupOnFail", true],
  [{ upgrade: { preserveValues: true } }, "upgrade.preserveValues", true],
  [
    { upgrade: { chartNameChangeStrategy: "InPlaceUpdate" } },
    "upgrade.chartNameChangeStrategy",
    "InPlaceUpdate",
  ],
  [
    { upgrade: { strategy: { name: "RetryOnFailure" } } },
    "upgrade.strategy",
    { name: "RetryOnFailure" },
  ],
  [
    { upgrade: { remediation: { retries: -1, strategy: "uninstall" } } },
    "upgrade.remediation",
    { retries: -1, strategy: "uninstall" },
  ],
  [
    { upgrade: { remediation: { ignoreTestFailures: true, remediateLastFailure: false } } },
    "upgrade.remediation",
    { ignoreTestFailures: true, remediateLastFailure: false },
  ],
  [{ rollback: { timeout: "1m" } }, "rollback.timeout", "1m"],
  [{ rollback: { disableWait: true } }, "rollback.disableWait", true],
  [{ rollback: { disableWaitForJobs: true } }, "rollback.disableWaitForJobs", true],
  [{ rollback: { disableHooks: true } }, "rollback.disableHooks", true],
  [{ rollback: { serverSideApply: "disabled" } }, "rollback.serverSideApply", "disabled"],
  [{ rollback: { force: true } }, "rollback.force", true],
  [{ rollback: { cleanupOnFail: true } }, "rollback.cleanupOnFail", true],
  [{ uninstall: { ...background, timeout: "1m" } }, "uninstall.timeout", "1m"],
  [{ uninstall: { ...background, keepHistory: true } }, "uninstall.keepHistory", true],
  [{ uninstall: { ...background, disableHooks: true } }, "uninstall.disableHooks", true],
  [{ uninstall: { ...background, disableWait: true } }, "uninstall.disableWait", true],
  [
    { uninstall: { deletionPropagation: "foreground" } },
    "uninstall.deletionPropagation",
    "foreground",
  ],
  [{ test: { enable: true } }, "test.enable", true],
  [{ test: { timeout: "1m" } }, "test.timeout", "1m"],
  [{ test: { ignoreFailures: true } }, "test.ignoreFailures", true],
  [{ test: { filters: [filter] } }, "test.filters", [filter]],
  [{ driftDetection: { mode: "enabled" } }, "driftDetection.mode", "enabled"],
  [
    { driftDetection: { ignore: [ignored] } },
    "driftDetection",
    { mode: "disabled", ignore: [ignored] },
  ],
  [{ postRenderers: [renderer] }, "postRenderers", [renderer]],
  [{ healthCheckExprs: [check] }, "healthCheckExprs", [check]],
];

test.each(changed)("%j sets %s", (spec, path, expected) => {
  const value = path
    .split(".")
    .reduce<unknown>((object, name) => Reflect.get(object as object, name), optionsOf(spec));
  assert.deepEqual(value, expected);
});
