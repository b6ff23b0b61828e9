export { type Action, type Desired, isInSync, nextAction } from "./next-action.ts";
