export {
  type AgentCertificate,
  noCertificate,
  parseAgentCertificate,
  validateAgent,
  validateCaller,
} from "./agent-certificate.ts";
export { type RequestedKey, readCertificateRequest } from "./certificate-request.ts";
export {
  type ClusterIdentity,
  type ClusterRef,
  formatIdentity,
  identityInNames,
  readHubId,
} from "./cluster-identity.ts";
export {
  formatReplicaIdentity,
  type ReplicaIdentity,
  replicaInNames,
} from "./replica-identity.ts";
