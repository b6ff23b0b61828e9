export {
  type ConditionState,
  chartNotResolved,
  holds,
  isWorthPublishing,
  notAccepted,
  policyViolation,
} from "./accepted.ts";
export {
  type ChartReference,
  chartReferenceOf,
  chartReferences,
  entryFor,
  mayReferenceChart,
} from "./charts.ts";
export { dependencyCountProblem } from "./dependency-count.ts";
export { createDriftBudget, driftOptionsProblem } from "./drift-options.ts";
export {
  deleteBundle,
  isOwnBundle,
  nameTaken,
  type OwnBundleDeps,
  ownBundle,
  ownBundleKey,
  setSuspended,
} from "./own-bundle.ts";
export { bundleOf, bundleSpecOf, type ResolvedCharts } from "./planned-bundle.ts";
export {
  type PlannedRelease,
  type ReleaseSpec,
  releaseOfBundle,
  releaseOfHelmOp,
} from "./planned-release.ts";
export {
  remarksOn,
  remarksOnBundle,
  unknownFieldRemarks,
  unsupportedFieldRemarks,
} from "./remarks.ts";
export { reservedFormProblem } from "./reserved-forms.ts";
export { writeBundle } from "./write-bundle.ts";
