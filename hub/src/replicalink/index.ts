export type { Question } from "./question.ts";
export { type AskedReplica, openReplicaLink, type ReplicaLink } from "./replica-link.ts";
