export { appOf, appOfFleet, appRefOf, appRefOfDeployment, explained, refOf } from "./app-of.ts";
export { type AppView, type AppViews, appObject, type Watched } from "./app-view.ts";
export { chartsOf } from "./charts-of.ts";
export { shownConditions, shownPolling } from "./conditions.ts";
export { driftText } from "./drift-text.ts";
