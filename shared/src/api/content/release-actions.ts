/** How a release is installed, upgraded and uninstalled, in a content: as in the API, with times in seconds. */
import * as z from "zod";
import { actionOptions } from "../fleet/index.ts";

export const releaseActionsSchema = z.object({
  /** The timeout of all actions without their own. */
  timeoutSeconds: z.number().min(0).optional(),
  /** The actions whose `serverSideApply` a user has set; the others have defaults, which may be departed from. */
  chosenMethods: z.array(z.enum(["install", "upgrade", "rollback"])).optional(),
  install: actionOptions.install.optional(),
  upgrade: actionOptions.upgrade.optional(),
  test: actionOptions.test.optional(),
  rollback: actionOptions.rollback.optional(),
  uninstall: actionOptions.uninstall.optional(),
});

export type ReleaseActions = Readonly<z.infer<typeof releaseActionsSchema>>;
