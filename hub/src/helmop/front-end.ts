/**
 * HelmOp as a front end. Its watches are in controller.ts; reconcile.ts calls `validate` and `plan`, with the pins of its charts
 * in between, and publisher.ts calls `status`. Bundles that were applied by hand are read as HelmOps, and use the same functions.
 */
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api";
import type { FrontEnd } from "../frontend/index.ts";
import { planBundle } from "./plan.ts";
import { type HelmOpInputs, helmOpStatus } from "./status.ts";
import { validate } from "./validate.ts";

export const helmOpFrontEnd: FrontEnd<HelmOp, HelmOpInputs, HelmOpStatus | undefined> = {
  validate,
  plan: planBundle,
  status: helmOpStatus,
};
