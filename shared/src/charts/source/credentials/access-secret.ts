/**
 * The access settings in the Secret that `helmSecretName` names: Fleet's keys, and keys that Fleet lacks (Docker's
 * configuration, client certificates, tokens). Pure.
 */
import { AppError } from "../../../runtime/errors/index.ts";
import type { AccessSettings, SourceLocation } from "../index.ts";
import { dockerCredentials } from "./docker-config.ts";
import {
  given,
  halfPair,
  invalidSecret as invalid,
  type SecretData,
  type Texts,
  textsOf,
} from "./secret-texts.ts";

export interface AccessSecretOptions {
  /** Selects the credentials of Docker's configuration, which has them by host. */
  readonly source: SourceLocation;
  /** As the HelmOp says; overrides what the Secret says, as in Fleet. */
  readonly insecureSkipVerify?: boolean | undefined;
  /** Certificate authorities, used when the Secret has none. */
  readonly caBundle?: string | undefined;
}

/** The keys of the Secret that are used. */
export const accessSecretKeys: readonly string[] = [
  ...["username", "password", "bearerToken", ".dockerconfigjson"],
  ...["cacerts", "ca.crt", "tls.crt", "tls.key"],
  ...["insecureSkipVerify", "basicHTTP"],
];

const pemCertificate = "-----BEGIN CERTIFICATE-----";

/** Settings without credentials for `undefined`. Errors name keys and never have any of the content. */
export function accessSettingsFromSecret(
  secret: SecretData | undefined,
  { source, insecureSkipVerify, caBundle }: AccessSecretOptions,
): AccessSettings | AppError {
  const data = textsOf(secret, accessSecretKeys);
  const credentials = credentialsOf(data, source);
  if (credentials instanceof AppError) return credentials;
  const certificate = clientCertificateOf(data);
  if (certificate instanceof AppError) return certificate;

  const caKey = ["cacerts", "ca.crt"].find((key) => given(data[key]));
  const isUnverified = insecureSkipVerify ?? isTrue(data["insecureSkipVerify"]);
  const isPlainHttp = isTrue(data["basicHTTP"]);
  const settings = {
    ...credentials,
    ...certificate,
    ...(isUnverified && { insecureSkipVerify: true }),
    ...(isPlainHttp && { plainHttp: true }),
  };
  const caPem = caKey === undefined ? caBundle : data[caKey];
  if (caKey === undefined || caPem?.includes(pemCertificate) === true)
    return { ...settings, ...(given(caPem) && { caPem }) };

  const problem = `${caKey} of the secret has no certificate in PEM form (${pemCertificate})`;
  if (isUnverified || usesPlainHttp(source, isPlainHttp))
    return {
      ...settings,
      remark: `${problem}, which is ignored, because no certificate of the repository is verified`,
    };
  return invalid(problem);
}

function usesPlainHttp(source: SourceLocation, isPlainRegistry: boolean): boolean {
  if (source.kind === "oci") return isPlainRegistry;
  return /^http:/i.test(source.kind === "http" ? source.repository : source.url);
}

function credentialsOf(data: Texts, source: SourceLocation): AccessSettings | AppError {
  const { username, password, bearerToken, ".dockerconfigjson": docker } = data;
  const half = halfPair(data, "username", "password");
  if (half !== undefined) return half;
  const ways = [
    ...(given(username) ? ["username"] : []),
    ...(given(bearerToken) ? ["bearerToken"] : []),
    ...(given(docker) ? [".dockerconfigjson"] : []),
  ];
  if (ways.length > 1)
    return invalid(`${ways.join(" and ")} are set in the secret: only one of them can be used`);
  if (given(docker)) return dockerCredentials(docker, source);
  if (given(bearerToken)) return { bearerToken: bearerToken.trim() };
  return given(username) && given(password) ? { username, password } : {};
}

function clientCertificateOf(data: Texts): AccessSettings | AppError {
  const { "tls.crt": certPem, "tls.key": keyPem } = data;
  if (given(certPem) && given(keyPem)) return { clientCertificate: { certPem, keyPem } };
  return halfPair(data, "tls.crt", "tls.key") ?? {};
}

/** As Go's strconv.ParseBool; any other text is false. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && ["1", "t", "T", "true", "TRUE", "True"].includes(text.trim());
}
