export {
  type Backoff,
  type BackoffLimits,
  backoffDelayMs,
  createBackoff,
  withJitter,
} from "./backoff.ts";
export { createFairPool } from "./fair-pool.ts";
export { createFairSemaphore, type FairSemaphore } from "./fair-semaphore.ts";
export { createKeyedMutex } from "./keyed-mutex.ts";
export { NextRun } from "./next-run.ts";
export { createSemaphore, type Semaphore } from "./semaphore.ts";
export { createSingleFlight } from "./single-flight.ts";
export { createTimeBudgets } from "./time-budgets.ts";
export { createTimeSlices, nextIteration, type TimeSlices } from "./time-slices.ts";
export {
  createKeyedRateLimiter,
  createTokenBucket,
  type RateLimits,
  type TokenBucket,
} from "./token-bucket.ts";
export { untilAborted } from "./until-aborted.ts";
export { createWaker, type Waker } from "./waker.ts";
