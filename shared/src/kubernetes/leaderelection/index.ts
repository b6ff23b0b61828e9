export { fenceConnection, fenceWrites } from "./fence-writes.ts";
export { runLeaderElection } from "./leader-election.ts";
export type { Leadership, LeaseTimes } from "./leadership.ts";
export {
  acquiredLease,
  durationMsOf,
  holderOf,
  type LeaseClaim,
  newLease,
  releasedLease,
  renewedLease,
} from "./lease-record.ts";
export { watchLease } from "./lease-watch.ts";
