/** The certificate authorities that an agent verifies its hub with: digest, validation, and the name that is checked. Pure. */
import { createHash, X509Certificate } from "node:crypto";

/**
 * A DNS name in the certificate of every hub, beside its addresses. An agent that connects to an IP address verifies this
 * name, because TLS sends no server name for an address.
 */
export const hubServerName = "flotilla-hub";

const certificatePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** `sha256:` and hex, of the PEM text as the hub sent it. */
export function authoritiesDigest(pem: string): string {
  return `sha256:${createHash("sha256").update(pem.trim()).digest("hex")}`;
}

/** Whether the text is one or more parsable certificates and nothing else. */
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
