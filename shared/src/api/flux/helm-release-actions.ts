/**
 * How a HelmRelease is installed, upgraded, tested, rolled back and uninstalled. The names are those of a HelmOp; the limits and
 * the meaning of an unset field are Flux's.
 */
import * as z from "zod";
import { described, fields } from "../fleet/index.ts";
import { duration, flag, number, objectName } from "./field.ts";

const timeout = described(duration.optional(), "How long Helm may take for this action.", {
  "x-default-text": "`spec.timeout`",
});

const waitFields = {
  timeout,
  disableWait: flag("Do not wait until the objects are ready."),
  disableWaitForJobs: flag("Do not wait until Jobs are complete."),
  disableHooks: flag("Do not run the chart's hooks."),
} as const;

const applyFields = {
  ...waitFields,
  disableOpenAPIValidation: flag("Do not validate the objects against the API server's schema."),
  disableSchemaValidation: flag("Do not validate the values against the chart's schema."),
  disableTakeOwnership: flag(
    "Reject existing objects that belong to no release or to another one.",
  ),
} as const;

const strategy = described(
  fields({
    name: described(
      z.enum(["RemediateOnFailure", "RetryOnFailure"]),
      "What follows a failure: the remediation, or an upgrade after `retryInterval`, as often as it fails.",
    ),
    retryInterval: described(
      duration.optional(),
      "Between two attempts. Only for `RetryOnFailure`.",
      { "x-default-text": "`5m`" },
    ),
  })
    .meta({
      "x-kubernetes-validations": [
        {
          rule: "!has(self.retryInterval) || self.name == 'RetryOnFailure'",
          message: "retryInterval is for the strategy 'RetryOnFailure' only: remove it",
        },
      ],
    })
    .optional(),
  "What follows a failure.",
  { "x-default-text": "`RemediateOnFailure`" },
);

const remediationFields = {
  retries: number(
    "How many more attempts follow a failed one, each after the remediation of the one before. Negative: without a limit.",
    "`0`",
  ),
  ignoreTestFailures: flag("A failed test is not remediated.", "`test.ignoreFailures`"),
} as const;

const crds = z.enum(["Skip", "Create", "CreateReplace"]).optional();
const crdsText =
  "Whether the CustomResourceDefinitions in the chart's folder `crds` are created, or also replaced.";

const serverSideApply = described(
  z.enum(["enabled", "disabled", "auto"]).optional(),
  "Update objects by server-side apply (`enabled`), by a patch (`disabled`), or as the revision before did (`auto`).",
  { "x-default-text": "auto" },
);

export const installSchema = fields({
  ...applyFields,
  strategy,
  remediation: described(
    fields({
      ...remediationFields,
      remediateLastFailure: flag("Also uninstall what the last attempt has left."),
    }).optional(),
    "A failed installation is uninstalled, and then retried this often.",
  ),
  createNamespace: flag("Create `targetNamespace` when it does not exist."),
  serverSideApply: flag("Create objects by server-side apply.", "`true`"),
  replace: flag("Use the name of a release again that was uninstalled with its history kept."),
  crds: described(crds, crdsText, { "x-default-text": "Create" }),
  skipCRDs: flag("Deprecated: do not create CustomResourceDefinitions. Use `crds`."),
});

export const upgradeSchema = fields({
  ...applyFields,
  strategy,
  remediation: described(
    fields({
      ...remediationFields,
      remediateLastFailure: flag(
        "Also remediate the last attempt.",
        "`true` with `retries` above 0",
      ),
      strategy: described(
        z.enum(["rollback", "uninstall"]).optional(),
        "Roll back to the revision before, or uninstall the release.",
        { "x-default-text": "rollback" },
      ),
    }).optional(),
    "A failed upgrade is rolled back or uninstalled, and then retried this often.",
  ),
  force: flag("Replace objects that cannot be updated. No effect with server-side apply."),
  cleanupOnFail: flag("Delete the objects that a failed upgrade has created."),
  preserveValues: flag("Merge the values over those of the revision before."),
  serverSideApply,
  crds: described(crds, crdsText, { "x-default-text": "Skip" }),
  chartNameChangeStrategy: described(
    z.enum(["Reinstall", "InPlaceUpdate"]).optional(),
    "What follows when the chart has another name: the release is uninstalled and installed again, or upgraded.",
    { "x-default-text": "Reinstall" },
  ),
});

export const testSchema = fields({
  enable: flag("Run the chart's tests after each installation and upgrade."),
  timeout,
  ignoreFailures: flag("A failed test does not make the release fail."),
  filters: described(
    z
      .array(
        fields({
          name: described(objectName, "The name of the test."),
          exclude: flag("Do not run this test."),
        }),
      )
      .optional(),
    "Which tests run.",
    { "x-default-text": "all" },
  ),
});

export const rollbackSchema = fields({
  ...waitFields,
  recreate: flag("Of older versions of Helm. No effect, as in Flux."),
  force: flag("Replace objects that cannot be updated. No effect with server-side apply."),
  cleanupOnFail: flag("Delete the objects that a failed rollback has created."),
  serverSideApply,
});

export const uninstallSchema = fields({
  timeout,
  disableHooks: flag("Do not run the chart's hooks."),
  disableWait: flag("Do not wait until the objects are deleted."),
  keepHistory: flag("Keep the release's records, marked as uninstalled."),
  deletionPropagation: described(
    z.enum(["background", "foreground", "orphan"]).default("background"),
    "How the objects that the release's objects own are deleted.",
  ),
});
