/**
 * How a release is installed, upgraded and uninstalled: the fields of Flux's HelmRelease v2, with its names and its validation,
 * for a HelmOp, a Bundle and each target. Unset, they mean Fleet's behaviour; which of two fields wins is in
 * docs/release-options.md.
 */
import { z } from "zod";
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

/** Of an action. */
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

const installSchema = fields(
  {
    ...commonFields,
    createNamespace: flag(
      "Create the namespace of the release when it does not exist.",
      "`createNamespace` of the object",
    ),
    serverSideApply: flag(
      "Create objects by server-side apply, and take fields over that others manage; with `false` by a plain create.",
      "server-side apply that fails for such fields",
    ),
    crds: described(
      z.enum(["Skip", "Create"]).optional(),
      "Whether the CustomResourceDefinitions in the chart's folder `crds` are created.",
      { "x-default-text": "Create" },
    ),
  },
  "InstallOptions",
);

const upgradeSchema = fields(
  {
    ...commonFields,
    force: flag(
      "Replace objects that cannot be updated: they are deleted and recreated. Without effect with `serverSideApply: enabled`.",
      "`helm.force`",
    ),
    cleanupOnFail: flag("Delete the objects that a failed upgrade has created."),
    preserveValues: flag("Merge the values over those of the revision before."),
    serverSideApply: described(
      z.enum(["enabled", "disabled", "auto"]).optional(),
      "Update objects by server-side apply, and take fields over that others manage (`enabled`), by a patch (`disabled`), or as the revision before did (`auto`).",
      { "x-default-text": "auto" },
    ),
  },
  "UpgradeOptions",
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
  install: described(installSchema.nullish(), "Options for the installation."),
  upgrade: described(upgradeSchema.nullish(), "Options for upgrades."),
  uninstall: described(uninstallSchema.nullish(), "Options for the removal."),
} as const;

const releaseActionsSchema = fields(releaseActionFields);

export type ReleaseActions = Typed<typeof releaseActionsSchema>;
