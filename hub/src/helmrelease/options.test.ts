import assert from "node:assert/strict";
import type { HelmReleaseSpec } from "@flotilla/shared/flux";
import { test } from "vitest";
import { releaseOptions } from "./options.ts";
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
    },
    rollback: { disableWaitForJobs: false },
    uninstall: { disableWait: false },
    driftDetection: { mode: "disabled" },
  });
});

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
  [{ install: { disableSchemaValidation: true } }, "install.disableSchemaValidation", true],
  [{ install: { disableTakeOwnership: true } }, "install.disableTakeOwnership", true],
  [{ install: { serverSideApply: false } }, "install.serverSideApply", false],
  [{ install: { crds: "CreateReplace" } }, "install.crds", "CreateReplace"],
  [{ install: { skipCRDs: true } }, "install.crds", "Skip"],
  [{ install: { skipCRDs: true } }, "install.skipCRDs", undefined],
  [{ install: { createNamespace: true } }, "install.createNamespace", undefined],
  [{ install: { replace: true } }, "install.replace", true],
  [{ install: { remediation: { retries: 3 } } }, "install.remediation.retries", 3],
  [
    { install: { strategy: { name: "RetryOnFailure", retryInterval: "1m" } } },
    "install.strategy",
    { name: "RetryOnFailure", retryInterval: "1m" },
  ],
  [{ upgrade: { timeout: "1m" } }, "upgrade.timeout", "1m"],
  [{ upgrade: { disableTakeOwnership: true } }, "upgrade.disableTakeOwnership", true],
  [{ upgrade: { serverSideApply: "enabled" } }, "upgrade.serverSideApply", "enabled"],
  [{ upgrade: { crds: "Create" } }, "upgrade.crds", "Create"],
  [{ upgrade: { force: true } }, "upgrade.force", true],
  [{ upgrade: { cleanupOnFail: true } }, "upgrade.cleanupOnFail", true],
  [{ upgrade: { preserveValues: true } }, "upgrade.preserveValues", true],
  [
    { upgrade: { remediation: { retries: -1, strategy: "uninstall" } } },
    "upgrade.remediation",
    { retries: -1, strategy: "uninstall" },
  ],
  [{ rollback: { force: true } }, "rollback.force", true],
  [{ rollback: { cleanupOnFail: true } }, "rollback.cleanupOnFail", true],
  [
    { uninstall: { keepHistory: true, deletionPropagation: "background" } },
    "uninstall.keepHistory",
    true,
  ],
  [
    { uninstall: { disableWait: true, deletionPropagation: "background" } },
    "uninstall.disableWait",
    true,
  ],
  [
    { uninstall: { deletionPropagation: "foreground" } },
    "uninstall.deletionPropagation",
    "foreground",
  ],
  [{ test: { enable: true } }, "test.enable", true],
  [{ driftDetection: { mode: "enabled" } }, "driftDetection.mode", "enabled"],
];

test.each(changed)("%j sets %s", (spec, path, expected) => {
  const value = path
    .split(".")
    .reduce<unknown>((object, name) => Reflect.get(object as object, name), optionsOf(spec));
  assert.deepEqual(value, expected);
});
