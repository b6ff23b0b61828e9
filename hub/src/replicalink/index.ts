export type { Question } from "./question.ts";
export { openReplicaLink, type ReplicaLink } from "./replica-link.ts";
