import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, test } from "vitest";
import {
  type RefusedMethods,
  rollbackOptions,
  type UpgradeOptions,
  uninstallFlags,
  upgradeOptions,
} from "./action-options.ts";

type Helm = Partial<DeploymentContent["helm"]>;
type Actions = DeploymentContent["actions"];

function contentOf(helm: Helm, actions: Actions): DeploymentContent {
  return { ...plainContent, helm: { ...plainContent.helm, ...helm }, ...(actions && { actions }) };
}

/** What follows from Fleet's defaults for an upgrade. */
const fleet: UpgradeOptions = {
  ...{ waits: false, waitsForJobs: false, timeoutSeconds: 0, runsHooks: true },
  ...{ validatesOpenAPI: false, validatesSchema: true, takesOwnership: false, force: false },
  ...{ replacesRefused: false, takesFields: false, isMethodChosen: false },
  ...{
    crds: "Skip",
    helmSkipsCrds: false,
    isAtomic: false,
    cleansUp: false,
    preservesValues: false,
    createsNamespace: false,
  },
};

describe("the options of an upgrade", () => {
  const cases: readonly (readonly [string, Helm, Actions, Partial<UpgradeOptions>])[] = [
    ["are Fleet's where nothing is set", {}, undefined, {}],
    [
      "wait as long as Fleet's timeout",
      { timeoutSeconds: 30 },
      {},
      { waits: true, timeoutSeconds: 30 },
    ],
    [
      "wait as long as the timeout of the release, before Fleet's",
      { timeoutSeconds: 30 },
      { timeoutSeconds: 60 },
      { waits: true, timeoutSeconds: 60 },
    ],
    [
      "have the timeout of the action before that of the release",
      {},
      { timeoutSeconds: 60, upgrade: { timeoutSeconds: 90 } },
      { waits: true, timeoutSeconds: 90 },
    ],
    ["do not have the timeout of an installation", {}, { install: { timeoutSeconds: 90 } }, {}],
    [
      "do not wait if that is disabled",
      { timeoutSeconds: 30 },
      { upgrade: { disableWait: true } },
      { timeoutSeconds: 30 },
    ],
    [
      "wait without a timeout if that is enabled",
      {},
      { upgrade: { disableWait: false } },
      { waits: true },
    ],
    [
      "do not wait for Jobs if that is disabled",
      { waitForJobs: true },
      { upgrade: { disableWaitForJobs: true } },
      {},
    ],
    [
      "wait for Jobs if that is enabled",
      {},
      { upgrade: { disableWaitForJobs: false } },
      { waitsForJobs: true },
    ],
    ["run no hooks", {}, { upgrade: { disableHooks: true } }, { runsHooks: false }],
    [
      "validate the schema although Fleet's option says no",
      { skipSchemaValidation: true },
      { upgrade: { disableSchemaValidation: false } },
      {},
    ],
    [
      "do not validate the schema",
      {},
      { upgrade: { disableSchemaValidation: true } },
      { validatesSchema: false },
    ],
    [
      "let Helm validate",
      {},
      { upgrade: { disableOpenAPIValidation: false } },
      { validatesOpenAPI: true },
    ],
    ["take ownership", {}, { upgrade: { disableTakeOwnership: false } }, { takesOwnership: true }],
    [
      "take no ownership although Fleet's option says so",
      { takeOwnership: true },
      { upgrade: { disableTakeOwnership: true } },
      {},
    ],
    [
      "force nothing although Fleet's option says so",
      { force: true },
      { upgrade: { force: false } },
      {},
    ],
    [
      "force without server-side apply, which fails by fields of others",
      {},
      { upgrade: { force: true } },
      { force: true, replacesRefused: true, serverSide: "false" },
    ],
    [
      "replace with server-side apply only what cannot be changed",
      { force: true },
      { upgrade: { serverSideApply: "enabled" } },
      { replacesRefused: true, serverSide: "true" },
    ],
    [
      "force with a patch",
      { force: true },
      { upgrade: { serverSideApply: "disabled" } },
      { force: true, replacesRefused: true, serverSide: "false" },
    ],
    [
      "have a method that a user has chosen",
      {},
      { upgrade: { serverSideApply: "enabled" }, chosenMethods: ["upgrade"] },
      { serverSide: "true", isMethodChosen: true },
    ],
    [
      "clean up, and keep values",
      {},
      { upgrade: { cleanupOnFail: true, preserveValues: true } },
      { cleansUp: true, preservesValues: true },
    ],
  ];
  for (const [what, helm, actions, expected] of cases)
    test(what, () => {
      const content = contentOf(helm, actions);
      assert.deepEqual(upgradeOptions(content, false), { ...fleet, ...expected });
    });
});

describe("the options of a release that was refused", () => {
  const cases: readonly (readonly [
    string,
    Helm,
    Actions,
    RefusedMethods,
    Partial<UpgradeOptions>,
  ])[] = [
    [
      "are client-side where nothing is set",
      {},
      undefined,
      { isClientSide: true },
      { serverSide: "false" },
    ],
    [
      "are client-side in place of a default",
      {},
      { upgrade: { serverSideApply: "enabled" } },
      { isClientSide: true },
      { serverSide: "false" },
    ],
    [
      "have the method that a user has chosen",
      {},
      { upgrade: { serverSideApply: "enabled" }, chosenMethods: ["upgrade"] },
      { isClientSide: true },
      { serverSide: "true", isMethodChosen: true },
    ],
    [
      "have the default of an upgrade where only that of the installation was chosen",
      {},
      { upgrade: { serverSideApply: "enabled" }, chosenMethods: ["install"] },
      { isClientSide: true },
      { serverSide: "false" },
    ],
    [
      "patch what Helm cannot replace, and still replace what cannot be changed",
      { force: true },
      undefined,
      { isPatched: true },
      { replacesRefused: true, serverSide: "false" },
    ],
  ];
  for (const [what, helm, actions, refused, expected] of cases)
    test(what, () => {
      const content = contentOf(helm, actions);
      assert.deepEqual(upgradeOptions(content, false, refused), { ...fleet, ...expected });
    });
});

test("a rollback to a revision that was applied client-side is applied as that was", () => {
  const actions = { rollback: { serverSideApply: "enabled" } } as const;
  assert.equal(rollbackOptions(contentOf({}, actions)).serverSide, "true");
  assert.equal(rollbackOptions(contentOf({}, actions), { isClientSide: true }).serverSide, "false");
  const chosen = contentOf({}, { ...actions, chosenMethods: ["rollback"] });
  assert.equal(rollbackOptions(chosen, { isClientSide: true }).serverSide, "true");
});

describe("the options of an installation", () => {
  const cases: readonly (readonly [string, Helm, Actions, Partial<UpgradeOptions>])[] = [
    ["create the namespace and the CRDs as Fleet does", {}, undefined, {}],
    [
      "create no namespace",
      {},
      { install: { createNamespace: false } },
      { createsNamespace: false },
    ],
    [
      "leave the CRDs out",
      {},
      { install: { crds: "Skip" } },
      { crds: "Skip", helmSkipsCrds: true },
    ],
    ["create plainly", {}, { install: { serverSideApply: false } }, { serverSide: "false" }],
    ["apply", {}, { install: { serverSideApply: true } }, { serverSide: "true" }],
    [
      "are not those of an upgrade",
      {},
      { upgrade: { force: true, disableHooks: true, cleanupOnFail: true } },
      {},
    ],
  ];
  for (const [what, helm, actions, expected] of cases)
    test(what, () => {
      const content = { ...contentOf(helm, actions), createNamespace: true };
      assert.deepEqual(upgradeOptions(content, true), {
        ...fleet,
        crds: "Create",
        createsNamespace: true,
        ...expected,
      });
    });
});

test("the flags of an uninstall wait only on request", () => {
  assert.deepEqual(uninstallFlags({}), {});
  assert.deepEqual(uninstallFlags({ actions: { timeoutSeconds: 60, uninstall: {} } }), {
    timeoutSeconds: 60,
  });
  assert.deepEqual(
    uninstallFlags({
      actions: {
        timeoutSeconds: 60,
        uninstall: {
          ...{ timeoutSeconds: 30, disableWait: false, disableHooks: true, keepHistory: true },
          deletionPropagation: "orphan",
        },
      },
    }),
    {
      ...{ waitSeconds: 30, timeoutSeconds: 30, withoutHooks: true, keepsHistory: true },
      cascade: "orphan",
    },
  );
});
