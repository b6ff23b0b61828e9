export { asHelmOp } from "./as-helm-op.ts";
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
  type ConditionState,
  chartNotResolved,
  type FrontEnd,
  holds,
  isWorthPublishing,
  notAccepted,
  policyViolation,
} from "./front-end.ts";
export {
  type BundleOwner,
  deleteBundle,
  nameTaken,
  type OwnBundleDeps,
  ownBundle,
  setSuspended,
} from "./own-bundle.ts";
export {
  remarksOn,
  remarksOnBundle,
  unknownFieldRemarks,
  unsupportedFieldRemarks,
} from "./remarks.ts";
export { requestAnnotations } from "./request-annotations.ts";
export { reservedFormProblem } from "./reserved-forms.ts";
export { writeBundle } from "./write-bundle.ts";
