export {
  authoritiesOf,
  isAppliedByHand,
  resolvedSpec,
  validateBundle,
} from "./applied-bundle.ts";
export { bundleView } from "./view.ts";
