export { createAppViews, runFrontEnds, type WatchedApps } from "./front-ends.ts";
