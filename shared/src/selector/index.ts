export {
  type ObjectSelector,
  type ObjectTarget,
  objectSelector,
  type SelectableObject,
  selectorCost,
} from "./object-selector.ts";
