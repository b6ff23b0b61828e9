export { ActionMenu } from "./action-menu.tsx";
export { Actions, actionAddress, actionName } from "./actions.tsx";
export { AdviceAbout, AdviceForRelease, AdviceText, BlockedBy, ObjectLink } from "./advice.tsx";
export { Examples } from "./examples.tsx";
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
export { usePageTitle } from "./use-page-title.ts";
export { useShownActions } from "./use-shown-actions.ts";
