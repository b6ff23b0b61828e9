export { runLeaderElection } from "./leader-election.ts";
export { fenceConnection, fenceWrites, type Leadership, type LeaseTimes } from "./leadership.ts";
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
