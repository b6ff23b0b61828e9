export { runLeaderElection } from "./leader-election.ts";
export { fenceConnection, fenceWrites, type Leadership, type LeaseTimes } from "./leadership.ts";
export {
  acquiredLease,
  holderOf,
  type LeaseClaim,
  newLease,
  releasedLease,
  renewedLease,
} from "./lease-record.ts";
