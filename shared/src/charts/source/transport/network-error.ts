/** Failures of the network, of name resolution and of TLS, for people. Pure. */
import { messageOf } from "../../../runtime/errors/index.ts";

const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed before the response was complete",
  EPIPE: "the connection was closed before the response was complete",
  UND_ERR_SOCKET: "the connection was closed before the response was complete",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name service did not respond",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host's network",
  ETIMEDOUT: "connecting timed out",
  UND_ERR_CONNECT_TIMEOUT: "connecting timed out",
  UND_ERR_HEADERS_TIMEOUT: "the server accepted the connection, but did not respond",
  UND_ERR_BODY_TIMEOUT: "the response stopped before its end",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the response does not have the announced length",
  CERT_HAS_EXPIRED:
    "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
  CERT_NOT_YET_VALID:
    "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "tls: failed to verify certificate: x509: certificate is not valid for the host",
};

const untrusted = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

const notTls = new Set([
  "EPROTO",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
]);

/** Where the certificate authorities of most hosts are set. */
const authorityField = "cacerts or ca.crt of the Secret";

/** A description of the failure, with the original code where it helps. `authorities`: where the host's authorities are set. */
export function describeNetworkFailure(thrown: unknown, authorities = authorityField): string {
  const code = codeOf(thrown);
  if (code === undefined) return messageOf(thrown);
  if (untrusted.has(code)) {
    // Go's sentence, with the beginning that crypto/tls gives it: what was written for Fleet searches for both.
    return `tls: failed to verify certificate: x509: certificate signed by unknown authority (${code}): add the authority to ${authorities}`;
  }
  if (notTls.has(code)) return `the response is not TLS (${code}): the server may serve plain HTTP`;
  return sentences[code] ?? messageOf(thrown);
}

/** Whether the server closed the connection instead of responding. */
export function isClosedConnection(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === "ECONNRESET" || code === "EPIPE" || code === "UND_ERR_SOCKET";
}

/** Whether the server does not support TLS. */
export function isNotTls(thrown: unknown): boolean {
  return codesOf(thrown).some((code) => notTls.has(code));
}

/** Whether nothing listens on the port. */
export function isRefused(thrown: unknown): boolean {
  return codesOf(thrown).includes("ECONNREFUSED");
}

/** The codes of an error and its causes. */
function codesOf(thrown: unknown): readonly string[] {
  const codes: string[] = [];
  for (let error = thrown; error instanceof Error; error = error.cause)
    codes.push(codeOf(error) ?? "");
  return codes;
}

function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown) || typeof thrown.code !== "string")
    return undefined;
  // undici wraps the error of the socket.
  if (thrown.code === "UND_ERR_SOCKET" && thrown.cause instanceof Error)
    return codeOf(thrown.cause) ?? thrown.code;
  return thrown.code;
}
