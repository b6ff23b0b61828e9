export { Ago } from "./ago.tsx";
export { ClockProvider, useCoarseNow, useNow } from "./clock.tsx";
export { clockOffsetMs } from "./relative-time.ts";
