/** Certificates in the Secrets of Flux's sources: today's keys and the legacy ones. Pure. */
import { AppError } from "../../../runtime/errors/index.ts";
import type { AccessSettings } from "../index.ts";
import { given, halfPair, invalidSecret, type Texts } from "./secret-texts.ts";

const pemCertificate = "-----BEGIN CERTIFICATE-----";

/** The keys that are used. */
export const certificateKeys: readonly string[] = [
  ...["ca.crt", "caFile", "tls.crt", "tls.key", "certFile", "keyFile"],
];

/** Empty settings when the Secret has none of the keys. */
export function certificatesOf(data: Texts): AccessSettings | AppError {
  const authority = authorityOf(data);
  if (authority instanceof AppError) return authority;
  const certificate = clientCertificateOf(data);
  return certificate instanceof AppError ? certificate : { ...authority, ...certificate };
}

function authorityOf(data: Texts): AccessSettings | AppError {
  const key = ["ca.crt", "caFile"].find((name) => given(data[name]));
  const caPem = key === undefined ? undefined : data[key];
  if (caPem === undefined) return {};
  return caPem.includes(pemCertificate)
    ? { caPem }
    : invalidSecret(`${key} of the secret has no certificate in PEM form (${pemCertificate})`);
}

function clientCertificateOf(data: Texts): AccessSettings | AppError {
  const pairs = [
    ["tls.crt", "tls.key"],
    ["certFile", "keyFile"],
  ] as const;
  const [certKey, keyKey] =
    pairs.find((pair) => pair.some((name) => given(data[name]))) ?? pairs[0];
  const [certPem, keyPem] = [data[certKey], data[keyKey]];
  if (given(certPem) && given(keyPem)) return { clientCertificate: { certPem, keyPem } };
  return halfPair(data, certKey, keyKey) ?? {};
}
