export {
  type ObjectSelector,
  type ObjectTarget,
  objectSelector,
  type SelectableObject,
} from "./object-selector.ts";
