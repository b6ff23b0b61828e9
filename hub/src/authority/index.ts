export {
  type CertificateAuthority,
  createAuthority,
  openAuthority,
} from "./certificate-authority.ts";
export { dataOf, ensureSecret } from "./hub-secrets.ts";
export { LiveAuthority } from "./live-authority.ts";
export { registerAuthorityMetrics } from "./metrics.ts";
export { readRecord } from "./record.ts";
export { RenewedCertificate } from "./renewed-certificate.ts";
export { runRotationController } from "./rotate.ts";
export { ensureAuthority } from "./secret.ts";
export { createServingCertificates, type ServingCertificates } from "./serving-certificate.ts";
export {
  createLiveSigningKey,
  ensureSigningKey,
  recordDeploymentsSigned,
  type SigningKey,
} from "./signing-key.ts";
