/**
 * How a release is installed, upgraded and uninstalled: the fields of Flux's HelmRelease v2, with its names and its validation,
 * for a HelmOp, a Bundle and each target. Unset, they mean Fleet's behaviour; which of two fields wins is in
 * docs/release-options.md.
 */
import * as z from "zod";
import { actionOptions, apiOptions, type FieldText, withText } from "./action-options.ts";
import { described, fields, flag, integer } from "./field.ts";

/** A duration as Flux has it: `5m`, `1h30m`, `1.5s`. A pattern, because a rule in a list would exceed the API server's budget. */
function duration(text: FieldText) {
  const schema = z
    .string()
    .max(32)
    .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/);
  return withText(schema.nullish(), text);
}

const timeout = ["How long Helm may take for this action.", "the release's own"] as const;

/** What an installation and an upgrade have in common. */
const commonTexts = {
  timeout,
  disableWait: [
    "Do not wait until the installed objects are ready.",
    "it waits if there is a timeout",
  ],
  disableWaitForJobs: [
    "Do not wait until Jobs are complete.",
    "it waits for them if `helm.waitForJobs` is set",
  ],
  disableHooks: "Do not run the chart's hooks.",
  disableOpenAPIValidation: [
    "With `false` Helm validates the objects against the API server's OpenAPI schema, too. The API server itself always validates what is applied.",
    "`true`",
  ],
  disableSchemaValidation: [
    "Do not validate the values against the chart's schema.",
    "`helm.skipSchemaValidation`",
  ],
  disableTakeOwnership: [
    "Reject existing objects that belong to no release or to another one; with `false` they are taken over.",
    "the opposite of `helm.takeOwnership`",
  ],
} as const;

function retryStrategy(remediation: string) {
  const strategy = apiOptions(
    actionOptions.strategy,
    { duration, title: "RetryStrategy" },
    {
      name: `What follows a failure: \`RemediateOnFailure\`: see \`${remediation}\`; \`RetryOnFailure\`: an upgrade after \`retryInterval\`, as often as it fails.`,
      retryInterval: ["Between two attempts. Only for `RetryOnFailure`.", "`5m`"],
    },
  );
  return withText(strategy.nullish(), [
    "What follows a failure.",
    "an upgrade, after a time that grows from 5 seconds to 5 minutes",
  ]);
}

const remediationTexts = {
  retries: [
    "How many more attempts follow a failed one, each after the remediation of the one before. Negative: without a limit.",
    "`0`",
  ],
  ignoreTestFailures: ["A failed test is not remediated.", "`test.ignoreFailures`"],
} as const;

const installRemediation = apiOptions(
  actionOptions.installRemediation,
  { duration, title: "InstallRemediation" },
  {
    ...remediationTexts,
    remediateLastFailure: "Also uninstall what the last attempt has left.",
  },
);

const upgradeRemediation = apiOptions(
  actionOptions.upgradeRemediation,
  { duration, title: "UpgradeRemediation" },
  {
    ...remediationTexts,
    remediateLastFailure: ["Also remediate the last attempt.", "`true` if `retries` is above 0"],
    strategy: [
      "Roll back to the revision before, or uninstall the release; a new attempt installs it again.",
      "rollback",
    ],
  },
);

const crds =
  "Whether the CustomResourceDefinitions in the chart's folder `crds` are created, or also replaced.";

const serverSideApply = [
  "Update objects by server-side apply, and take fields over that others manage (`enabled`), by a patch (`disabled`), or as the revision before did (`auto`).",
  "auto",
] as const;

const install = apiOptions(
  actionOptions.install,
  { duration, title: "InstallOptions" },
  {
    ...commonTexts,
    strategy: retryStrategy("install.remediation"),
    remediation: described(
      installRemediation.nullish(),
      "A failed installation is uninstalled, and then retried this often.",
    ),
    createNamespace: [
      "Create the namespace of the release when it does not exist.",
      "`createNamespace` of the object",
    ],
    serverSideApply: [
      "Create objects by server-side apply, and take fields over that others manage; with `false` by a plain create.",
      "server-side apply that fails for such fields; a plain create where it refuses the chart",
    ],
    replace: flag(
      "Use the name of a release again that was uninstalled with its history kept. It always is.",
      "`true`",
    ),
    crds: [crds, "Create"],
  },
);

const upgrade = apiOptions(
  actionOptions.upgrade,
  { duration, title: "UpgradeOptions" },
  {
    ...commonTexts,
    force: [
      "Replace objects that cannot be changed: they are deleted and created again, except claims, volumes, namespaces and CustomResourceDefinitions.",
      "`helm.force`",
    ],
    cleanupOnFail: "Delete the objects that a failed upgrade has created.",
    preserveValues: "Merge the values over the values of the revision before.",
    serverSideApply,
    crds: [crds, "Skip"],
    chartNameChangeStrategy: [
      "With `Reinstall` the release of a chart with another name is uninstalled first.",
      "InPlaceUpdate",
    ],
    strategy: retryStrategy("upgrade.remediation"),
    remediation: described(
      upgradeRemediation.nullish(),
      "A failed upgrade is rolled back or uninstalled, and then retried this often.",
    ),
  },
);

const filter = fields({
  name: described(z.string().min(1).max(253), "The name of the test."),
  exclude: flag("Do not run this test; otherwise only the named ones run."),
});

const test = apiOptions(
  actionOptions.test,
  { duration, title: "TestOptions" },
  {
    enable: "Run the chart's tests after each installation and upgrade, when the release is ready.",
    timeout,
    ignoreFailures: "A failed test does not make the release fail.",
    filters: withText(z.array(filter).max(64).nullish(), ["Which tests run.", "all"]),
  },
);

const rollback = apiOptions(
  actionOptions.rollback,
  { duration, title: "RollbackOptions" },
  {
    timeout,
    disableWait: ["Do not wait until the objects are ready.", "as for upgrades"],
    disableWaitForJobs: ["Do not wait until Jobs are complete.", "as for upgrades"],
    disableHooks: "Do not run the chart's hooks.",
    recreate: flag("A flag of older versions of Helm. It has no effect, as in Flux."),
    force:
      "Replace objects that cannot be changed back: they are deleted and created again, except claims, volumes, namespaces and CustomResourceDefinitions.",
    cleanupOnFail: "Delete the objects that a failed rollback has created.",
    serverSideApply,
  },
);

const uninstall = apiOptions(
  actionOptions.uninstall,
  { duration, title: "UninstallOptions" },
  {
    timeout,
    disableHooks: "Do not run the chart's hooks.",
    disableWait: ["Do not wait until the objects are deleted.", "`true`"],
    keepHistory: "Keep the release's records, marked as uninstalled.",
    deletionPropagation: [
      "How the objects that the release's objects own are deleted.",
      "background",
    ],
  },
);

/** The fields, for the options of a deployment. */
export const releaseActionFields = {
  timeout: duration([
    "How long Helm may take for an action that has no timeout of its own. With one, installations and upgrades wait until the objects are ready.",
    "`helm.timeoutSeconds`",
  ]),
  maxHistory: integer("The number of revisions of the release that Helm keeps; `0` keeps all.", {
    absent: "`helm.maxHistory`",
  }),
  storageNamespace: described(
    z.string().min(1).max(63).optional(),
    "The namespace of the release's records. Helm keeps them in the namespace of the release, so any other is rejected.",
    { "x-default-text": "the namespace of the release" },
  ),
  install: described(install.nullish(), "Options for the installation."),
  upgrade: described(upgrade.nullish(), "Options for upgrades."),
  test: described(test.nullish(), "The chart's tests (`helm test`)."),
  rollback: described(rollback.nullish(), "Options for rollbacks of failed upgrades."),
  uninstall: described(uninstall.nullish(), "Options for the removal."),
} as const;
