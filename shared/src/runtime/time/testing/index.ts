export { cpuMs, growthOf } from "./cpu-time.ts";
export { createFakeClock, type FakeClock, settle } from "./fake-clock.ts";
