export type { ForwardedRequest } from "./forwarded-request.ts";
export { openReplicaLink, type ReplicaLink } from "./replica-link.ts";
