export { leaseOn, leaseRef, openElection, type Replica } from "./election.ts";
