/** The authorities that an agent trusts its hub by: how both sides name a list of them, and how it is read. Pure. */
import { createHash, X509Certificate } from "node:crypto";

const certificatePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** `sha256:` and hex. Both sides make it of the text as the hub gave it. */
export function authoritiesDigest(pem: string): string {
  return `sha256:${createHash("sha256").update(pem.trim()).digest("hex")}`;
}

/** Whether it is one certificate or more, each of which can be read, and nothing else. */
export function areAuthorities(pem: string): boolean {
  const certificates = pem.match(certificatePem) ?? [];
  return (
    certificates.length > 0 &&
    pem.replaceAll(certificatePem, "").trim() === "" &&
    certificates.every(isCertificate)
  );
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}
