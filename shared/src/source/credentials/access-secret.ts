/**
 * The access settings in the Secret that `helmSecretName` names: Fleet's keys, and keys that Fleet lacks (Docker's
 * configuration, client certificates, tokens). Pure.
 */
import { AppError } from "../../errors/index.ts";
import { type AccessSettings, chartErrors, type SourceLocation } from "../index.ts";
import { dockerCredentials } from "./docker-config.ts";

/** The data of a Secret, in base64. */
export interface SecretData {
  readonly data?: Readonly<Record<string, string>> | undefined;
}

export interface AccessSecretOptions {
  /** Selects the credentials of Docker's configuration, which has them by host. */
  readonly source: SourceLocation;
  /** Of the HelmOp; overrides that of the Secret, as in Fleet. */
  readonly insecureSkipVerify?: boolean | undefined;
  /** Certificate authorities, used when the Secret has none. */
  readonly caBundle?: string | undefined;
}

const pemCertificate = "-----BEGIN CERTIFICATE-----";

/** Settings without credentials for `undefined`. Errors name keys and never have any of the content. */
export function accessSettingsFromSecret(
  secret: SecretData | undefined,
  { source, insecureSkipVerify, caBundle }: AccessSecretOptions,
): AccessSettings | AppError {
  const data = textsOf(secret);
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

type Texts = Readonly<Record<string, string | undefined>>;

function textsOf(secret: SecretData | undefined): Texts {
  return Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, text]) => [
      key,
      Buffer.from(text, "base64").toString(),
    ]),
  );
}

function credentialsOf(data: Texts, source: SourceLocation): AccessSettings | AppError {
  const { username, password, bearerToken, ".dockerconfigjson": docker } = data;
  if (given(username) !== given(password)) {
    const [present, absent] = given(username) ? ["username", "password"] : ["password", "username"];
    return invalid(`${present} is set in the secret, but ${absent} isn't`);
  }
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
  if (!given(certPem) && !given(keyPem)) return {};
  const [present, absent] = given(certPem) ? ["tls.crt", "tls.key"] : ["tls.key", "tls.crt"];
  return invalid(`${present} is set in the secret, but ${absent} isn't`);
}

function given(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

/** As Go's strconv.ParseBool; any other text is false. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && ["1", "t", "T", "true", "TRUE", "True"].includes(text.trim());
}

function invalid(message: string): AppError {
  return new AppError(chartErrors.REPOSITORY_SECRET_INVALID, message);
}
