/**
 * How a release is installed, upgraded and uninstalled: the fields of Flux's HelmRelease v2, with its names and its validation,
 * for a HelmOp, a Bundle and each target. Unset, they mean Fleet's behaviour; which of two fields wins is in
 * docs/release-options.md.
 */
import * as z from "zod";
import { described, fields, flag, integer, type Typed } from "./field.ts";

/** A duration as Flux has it: `5m`, `1h30m`, `1.5s`. A pattern, because a rule in a list would exceed the API server's budget. */
function releaseDuration(description: string, absent?: string) {
  return described(
    z
      .string()
      .max(32)
      .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/)
      .nullish(),
    description,
    absent === undefined ? {} : { "x-default-text": absent },
  );
}

/** The timeout of an action. */
const timeout = releaseDuration("How long Helm may take for this action.", "the release's own");

/** What an installation and an upgrade have in common. */
const commonFields = {
  timeout,
  disableWait: flag(
    "Do not wait until the installed objects are ready.",
    "it waits if there is a timeout",
  ),
  disableWaitForJobs: flag(
    "Do not wait until Jobs are complete.",
    "it waits for them if `helm.waitForJobs` is set",
  ),
  disableHooks: flag("Do not run the chart's hooks."),
  disableOpenAPIValidation: flag(
    "With `false` Helm validates the objects against the API server's OpenAPI schema, too. The API server itself always validates what is applied.",
    "`true`",
  ),
  disableSchemaValidation: flag(
    "Do not validate the values against the chart's schema.",
    "`helm.skipSchemaValidation`",
  ),
  disableTakeOwnership: flag(
    "Reject existing objects that belong to no release or to another one; with `false` they are taken over.",
    "the opposite of `helm.takeOwnership`",
  ),
} as const;

function retryStrategy(remediation: string) {
  return described(
    fields(
      {
        name: described(
          z.enum(["RemediateOnFailure", "RetryOnFailure"]),
          `What follows a failure: \`RemediateOnFailure\`: see \`${remediation}\`; \`RetryOnFailure\`: an upgrade after \`retryInterval\`, as often as it fails.`,
        ),
        retryInterval: releaseDuration("Between two attempts. Only for `RetryOnFailure`.", "`5m`"),
      },
      "RetryStrategy",
    ).nullish(),
    "What follows a failure.",
    { "x-default-text": "an upgrade, after a time that grows from 5 seconds to 5 minutes" },
  );
}

const remediationFields = {
  retries: integer(
    "How many more attempts follow a failed one, each after the remediation of the one before. Negative: without a limit.",
    { absent: "`0`" },
  ),
  ignoreTestFailures: flag("A failed test is not remediated.", "`test.ignoreFailures`"),
} as const;

const installRemediationSchema = fields(
  {
    ...remediationFields,
    remediateLastFailure: flag("Also uninstall what the last attempt has left."),
  },
  "InstallRemediation",
);

const upgradeRemediationSchema = fields(
  {
    ...remediationFields,
    remediateLastFailure: flag(
      "Also remediate the last attempt.",
      "`true` if `retries` is above 0",
    ),
    strategy: described(
      z.enum(["rollback", "uninstall"]).optional(),
      "Roll back to the revision before, or uninstall the release; a new attempt installs it again.",
      { "x-default-text": "rollback" },
    ),
  },
  "UpgradeRemediation",
);

const crdsPolicy = z.enum(["Skip", "Create", "CreateReplace"]).optional();

const serverSideApply = described(
  z.enum(["enabled", "disabled", "auto"]).optional(),
  "Update objects by server-side apply, and take fields over that others manage (`enabled`), by a patch (`disabled`), or as the revision before did (`auto`).",
  { "x-default-text": "auto" },
);

const installSchema = fields(
  {
    ...commonFields,
    strategy: retryStrategy("install.remediation"),
    remediation: described(
      installRemediationSchema.nullish(),
      "A failed installation is uninstalled, and then retried this often.",
    ),
    createNamespace: flag(
      "Create the namespace of the release when it does not exist.",
      "`createNamespace` of the object",
    ),
    serverSideApply: flag(
      "Create objects by server-side apply, and take fields over that others manage; with `false` by a plain create.",
      "server-side apply that fails for such fields; a plain create where it refuses the chart",
    ),
    replace: flag(
      "Use the name of a release again that was uninstalled with its history kept. It always is.",
      "`true`",
    ),
    crds: described(
      crdsPolicy,
      "Whether the CustomResourceDefinitions in the chart's folder `crds` are created, or also replaced.",
      { "x-default-text": "Create" },
    ),
  },
  "InstallOptions",
);

const upgradeSchema = fields(
  {
    ...commonFields,
    force: flag(
      "Replace objects that cannot be changed: they are deleted and created again, except claims, volumes, namespaces and CustomResourceDefinitions.",
      "`helm.force`",
    ),
    cleanupOnFail: flag("Delete the objects that a failed upgrade has created."),
    preserveValues: flag("Merge the values over those of the revision before."),
    serverSideApply,
    crds: described(
      crdsPolicy,
      "Whether the CustomResourceDefinitions in the chart's folder `crds` are created, or also replaced.",
      { "x-default-text": "Skip" },
    ),
    chartNameChangeStrategy: described(
      z.enum(["Reinstall", "InPlaceUpdate"]).optional(),
      "With `Reinstall` the release of a chart with another name is uninstalled first.",
      { "x-default-text": "InPlaceUpdate" },
    ),
    strategy: retryStrategy("upgrade.remediation"),
    remediation: described(
      upgradeRemediationSchema.nullish(),
      "A failed upgrade is rolled back or uninstalled, and then retried this often.",
    ),
  },
  "UpgradeOptions",
);

const testSchema = fields(
  {
    enable: flag(
      "Run the chart's tests after each installation and upgrade, when the release is ready.",
    ),
    timeout,
    ignoreFailures: flag("A failed test does not make the release fail."),
    filters: described(
      z
        .array(
          fields({
            name: described(z.string().min(1).max(253), "The name of the test."),
            exclude: flag("Do not run this test; otherwise only the named ones run."),
          }),
        )
        .max(64)
        .nullish(),
      "Which tests run.",
      { "x-default-text": "all" },
    ),
  },
  "TestOptions",
);

const rollbackSchema = fields(
  {
    timeout,
    disableWait: flag("Do not wait until the objects are ready.", "as for upgrades"),
    disableWaitForJobs: flag("Do not wait until Jobs are complete.", "as for upgrades"),
    disableHooks: flag("Do not run the chart's hooks."),
    recreate: flag("Of older versions of Helm. It has no effect, as in Flux."),
    force: flag(
      "Replace objects that cannot be changed back: they are deleted and created again, except claims, volumes, namespaces and CustomResourceDefinitions.",
    ),
    cleanupOnFail: flag("Delete the objects that a failed rollback has created."),
    serverSideApply,
  },
  "RollbackOptions",
);

const uninstallSchema = fields(
  {
    timeout,
    disableHooks: flag("Do not run the chart's hooks."),
    disableWait: flag("Do not wait until the objects are deleted.", "`true`"),
    keepHistory: flag("Keep the release's records, marked as uninstalled."),
    deletionPropagation: described(
      z.enum(["background", "foreground", "orphan"]).optional(),
      "How the objects that the release's objects own are deleted.",
      { "x-default-text": "background" },
    ),
  },
  "UninstallOptions",
);

/** The fields, for the options of a deployment. */
export const releaseActionFields = {
  timeout: releaseDuration(
    "How long Helm may take for an action that has no timeout of its own. With one, installations and upgrades wait until the objects are ready.",
    "`helm.timeoutSeconds`",
  ),
  maxHistory: integer("The number of revisions of the release that Helm keeps; `0` keeps all.", {
    absent: "`helm.maxHistory`",
  }),
  storageNamespace: described(
    z.string().min(1).max(63).optional(),
    "The namespace of the release's records. Helm keeps them in the namespace of the release, so any other is rejected.",
    { "x-default-text": "the namespace of the release" },
  ),
  install: described(installSchema.nullish(), "Options for the installation."),
  upgrade: described(upgradeSchema.nullish(), "Options for upgrades."),
  test: described(testSchema.nullish(), "The chart's tests (`helm test`)."),
  rollback: described(rollbackSchema.nullish(), "Options for rollbacks of failed upgrades."),
  uninstall: described(uninstallSchema.nullish(), "Options for the removal."),
} as const;

const releaseActionsSchema = fields(releaseActionFields);

export type ReleaseActions = Typed<typeof releaseActionsSchema>;
