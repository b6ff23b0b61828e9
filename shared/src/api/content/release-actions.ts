/** How a release is installed, upgraded and uninstalled, in a content: as in the API, with times in seconds. */
import * as z from "zod";

const seconds = z.number().min(0).optional();
const flag = z.boolean().optional();

const common = {
  timeoutSeconds: seconds,
  disableWait: flag,
  disableWaitForJobs: flag,
  disableHooks: flag,
  disableOpenAPIValidation: flag,
  disableSchemaValidation: flag,
  disableTakeOwnership: flag,
} as const;

const strategy = z
  .object({
    name: z.enum(["RemediateOnFailure", "RetryOnFailure"]),
    retryIntervalSeconds: seconds,
  })
  .optional();

const remediation = {
  retries: z.number().int().optional(),
  ignoreTestFailures: flag,
  remediateLastFailure: flag,
} as const;

const crds = z.enum(["Skip", "Create", "CreateReplace"]).optional();
const serverSideApply = z.enum(["enabled", "disabled", "auto"]).optional();

export const releaseActionsSchema = z.object({
  /** The timeout of all actions without their own. */
  timeoutSeconds: seconds,
  /** The actions whose `serverSideApply` a user has set; the others have defaults, which may be departed from. */
  chosenMethods: z.array(z.enum(["install", "upgrade", "rollback"])).optional(),
  install: z
    .object({
      ...common,
      createNamespace: flag,
      serverSideApply: flag,
      crds,
      strategy,
      remediation: z.object(remediation).optional(),
    })
    .optional(),
  upgrade: z
    .object({
      ...common,
      force: flag,
      cleanupOnFail: flag,
      preserveValues: flag,
      serverSideApply,
      crds,
      chartNameChangeStrategy: z.enum(["Reinstall", "InPlaceUpdate"]).optional(),
      strategy,
      remediation: z
        .object({ ...remediation, strategy: z.enum(["rollback", "uninstall"]).optional() })
        .optional(),
    })
    .optional(),
  test: z
    .object({
      enable: flag,
      timeoutSeconds: seconds,
      ignoreFailures: flag,
      filters: z.array(z.object({ name: z.string(), exclude: flag })).optional(),
    })
    .optional(),
  rollback: z
    .object({
      timeoutSeconds: seconds,
      disableWait: flag,
      disableWaitForJobs: flag,
      disableHooks: flag,
      force: flag,
      cleanupOnFail: flag,
      serverSideApply,
    })
    .optional(),
  uninstall: z
    .object({
      timeoutSeconds: seconds,
      disableHooks: flag,
      disableWait: flag,
      keepHistory: flag,
      deletionPropagation: z.enum(["background", "foreground", "orphan"]).optional(),
    })
    .optional(),
});

export type ReleaseActions = Readonly<z.infer<typeof releaseActionsSchema>>;
