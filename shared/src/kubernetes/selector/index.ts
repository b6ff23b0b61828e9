export {
  type ObjectSelector,
  objectSelector,
  selectorCost,
} from "./object-selector.ts";
