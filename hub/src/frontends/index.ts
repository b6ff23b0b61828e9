export {
  authoritiesOf,
  isAppliedByHand,
  resolvedSpec,
  validateBundle,
} from "./applied/applied-bundle.ts";
export { validate as validateRelease } from "./helmop/validate.ts";
export { createObjectRefreshController } from "./helmrelease/refresh-objects.ts";
export type { ValidationOptions } from "./helmrelease/validate.ts";
export {
  createAppViews,
  metricsOfApps,
  runFrontEnds,
  type WatchedApps,
} from "./registry/front-ends.ts";
