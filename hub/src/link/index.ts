export {
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
} from "./agentserver/agent-server.ts";
export {
  type CertificateAuthority,
  createAuthority,
  openAuthority,
} from "./authority/certificate-authority.ts";
export { dataOf, ensureSecret } from "./authority/hub-secrets.ts";
export { readRecord } from "./authority/record.ts";
export { RenewedCertificate } from "./authority/renewed-certificate.ts";
export { runRotationController } from "./authority/rotate.ts";
export { ensureAuthority } from "./authority/secret.ts";
export {
  createLiveSigningKey,
  ensureSigningKey,
  recordDeploymentsSigned,
  type SigningKey,
} from "./authority/signing-key.ts";
export type { AnswerSink, NewRequest, OpenedRequest } from "./dispatch/agent-requests.ts";
export type { ReportPosition, ReportSink } from "./dispatch/report-intake.ts";
export { createReportWriter } from "./dispatch/report-writer.ts";
export { readCertificateRequest } from "./identity/certificate-request.ts";
export { identityInNames, readHubId } from "./identity/cluster-identity.ts";
export { type AskAgentDeps, createAgentAsker } from "./planrequest/ask-agent.ts";
export { runPresenceController } from "./presence/controller.ts";
export { highestEpoch } from "./presence/epoch.ts";
export { runTokenController } from "./registrationtoken/controller.ts";
export {
  type RemovedClientsDeps,
  recordRemovedClient,
} from "./registrationtoken/removed-clients.ts";
export { addressOf } from "./replica/lease.ts";
export { runOrphanedAgents } from "./replica/orphaned-agents.ts";
export { createReplica, type Replica } from "./replica/replica.ts";
export type { ForwardedRequest } from "./replicalink/forwarded-request.ts";
export { openReplicaLink, type ReplicaLink } from "./replicalink/replica-link.ts";
