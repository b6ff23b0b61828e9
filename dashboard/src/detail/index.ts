export { Actions } from "./actions.tsx";
export {
  Conditions,
  CopyButton,
  EventList,
  Fact,
  Facts,
  Failure,
  Loading,
  Source,
} from "./parts.tsx";
export { slowPauseMs, useDetail } from "./use-detail.ts";
