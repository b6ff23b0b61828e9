/** How a release is installed, upgraded and uninstalled, in a content: as in the API, with times in seconds. */
import { z } from "zod";

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

export const releaseActionsSchema = z.object({
  /** Of all actions without their own. */
  timeoutSeconds: seconds,
  install: z
    .object({
      ...common,
      createNamespace: flag,
      serverSideApply: flag,
      crds: z.enum(["Skip", "Create"]).optional(),
    })
    .optional(),
  upgrade: z
    .object({
      ...common,
      force: flag,
      cleanupOnFail: flag,
      preserveValues: flag,
      serverSideApply: z.enum(["enabled", "disabled", "auto"]).optional(),
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
