export type { AgentIdentity, StoredIdentity } from "./agent-identity.ts";
export { createAgentKey, createCertificateRequest } from "./agent-key.ts";
export { type Bootstrap, parseBootstrap } from "./bootstrap.ts";
export { createIdentityController, type IdentityController } from "./identity-controller.ts";
export { createIdentityStore, type IdentityStore } from "./identity-store.ts";
export { renewBeforeExpiry } from "./renewal.ts";
