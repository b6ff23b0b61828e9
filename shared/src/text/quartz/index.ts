export { quartzErrors } from "./errors.ts";
export { parseQuartz, type QuartzExpression } from "./expression.ts";
export { nextStarts } from "./next-start.ts";
export { parseWindow, type Window, type WindowState, type WindowText, windowAt } from "./window.ts";
export { localTimeMs, type Zone, zoneOf } from "./zone.ts";
