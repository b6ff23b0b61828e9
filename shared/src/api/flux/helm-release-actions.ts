/**
 * How a HelmRelease is installed, upgraded, tested, rolled back and uninstalled. The names are a HelmOp's; the limits and
 * the meaning of an unset field are Flux's.
 */
import * as z from "zod";
import {
  actionOptions,
  apiOptions,
  described,
  type FieldText,
  fields,
  withText,
} from "../fleet/index.ts";
import { duration as durationText, flag, objectName } from "./field.ts";

const flux = { duration: (text: FieldText) => withText(durationText.optional(), text) } as const;

const timeout = ["How long Helm may take for this action.", "`spec.timeout`"] as const;

const waitTexts = {
  timeout,
  disableWait: "Do not wait until the objects are ready.",
  disableWaitForJobs: "Do not wait until Jobs are complete.",
  disableHooks: "Do not run the chart's hooks.",
} as const;

const applyTexts = {
  ...waitTexts,
  disableOpenAPIValidation: "Do not validate the objects against the API server's schema.",
  disableSchemaValidation: "Do not validate the values against the chart's schema.",
  disableTakeOwnership: "Reject existing objects that belong to no release or to another one.",
} as const;

const strategySchema = apiOptions(actionOptions.strategy, flux, {
  name: "What follows a failure: the remediation, or an upgrade after `retryInterval`, as often as it fails.",
  retryInterval: ["Between two attempts. Only for `RetryOnFailure`.", "`5m`"],
}).meta({
  "x-kubernetes-validations": [
    {
      rule: "!has(self.retryInterval) || self.name == 'RetryOnFailure'",
      message: "retryInterval is for the strategy 'RetryOnFailure' only: remove it",
    },
  ],
});

const strategy = withText(strategySchema.optional(), [
  "What follows a failure.",
  "`RemediateOnFailure`",
]);

const remediationTexts = {
  retries: [
    "How many more attempts follow a failed one, each after the remediation of the one before. Negative: without a limit.",
    "`0`",
  ],
  ignoreTestFailures: ["A failed test is not remediated.", "`test.ignoreFailures`"],
} as const;

const installRemediation = apiOptions(actionOptions.installRemediation, flux, {
  ...remediationTexts,
  remediateLastFailure: "Also uninstall what the last attempt has left.",
});

const upgradeRemediation = apiOptions(actionOptions.upgradeRemediation, flux, {
  ...remediationTexts,
  remediateLastFailure: ["Also remediate the last attempt.", "`true` with `retries` above 0"],
  strategy: ["Roll back to the revision before, or uninstall the release.", "rollback"],
});

const crds =
  "Whether the CustomResourceDefinitions in the chart's folder `crds` are created, or also replaced.";

const serverSideApply = [
  "Update objects by server-side apply (`enabled`), by a patch (`disabled`), or as the revision before did (`auto`).",
  "auto",
] as const;

export const installSchema = apiOptions(actionOptions.install, flux, {
  ...applyTexts,
  strategy,
  remediation: described(
    installRemediation.optional(),
    "A failed installation is uninstalled, and then retried this often.",
  ),
  createNamespace: "Create `targetNamespace` when it does not exist.",
  serverSideApply: ["Create objects by server-side apply.", "`true`"],
  replace: flag("Use the name of a release again that was uninstalled with its history kept."),
  crds: [crds, "Create"],
  skipCRDs: flag("Deprecated: do not create CustomResourceDefinitions. Use `crds`."),
});

export const upgradeSchema = apiOptions(actionOptions.upgrade, flux, {
  ...applyTexts,
  strategy,
  remediation: described(
    upgradeRemediation.optional(),
    "A failed upgrade is rolled back or uninstalled, and then retried this often.",
  ),
  force: "Replace objects that cannot be updated. No effect with server-side apply.",
  cleanupOnFail: "Delete the objects that a failed upgrade has created.",
  preserveValues: "Merge the values over the values of the revision before.",
  serverSideApply,
  crds: [crds, "Skip"],
  chartNameChangeStrategy: [
    "What follows when the chart has another name: the release is uninstalled and installed again, or upgraded.",
    "Reinstall",
  ],
});

const filter = fields({
  name: described(objectName, "The name of the test."),
  exclude: flag("Do not run this test."),
});

export const testSchema = apiOptions(actionOptions.test, flux, {
  enable: "Run the chart's tests after each installation and upgrade.",
  timeout,
  ignoreFailures: "A failed test does not make the release fail.",
  filters: withText(z.array(filter).optional(), ["Which tests run.", "all"]),
});

export const rollbackSchema = apiOptions(actionOptions.rollback, flux, {
  ...waitTexts,
  recreate: flag("A flag of older versions of Helm. No effect, as in Flux."),
  force: "Replace objects that cannot be updated. No effect with server-side apply.",
  cleanupOnFail: "Delete the objects that a failed rollback has created.",
  serverSideApply,
});

export const uninstallSchema = apiOptions(actionOptions.uninstall, flux, {
  timeout,
  disableHooks: "Do not run the chart's hooks.",
  disableWait: "Do not wait until the objects are deleted.",
  keepHistory: "Keep the release's records, marked as uninstalled.",
  deletionPropagation: described(
    actionOptions.uninstall.shape.deletionPropagation.unwrap().default("background"),
    "How the objects that the release's objects own are deleted.",
  ),
});
