export { Ago } from "./ago.tsx";
export { ClockProvider, useNow } from "./clock.tsx";
export { clockOffsetMs } from "./relative-time.ts";
