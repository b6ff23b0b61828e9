/**
 * The Secret that `helmSecretName` names, read into access settings: Fleet's keys, and what Fleet lacks (Docker's
 * configuration, client certificates, tokens).
 */
import { AppError } from "../errors/app-error.ts";
import type { ReferencedObjectData } from "../referenced/referenced-object.ts";
import type { AccessSettings } from "./access.ts";
import { dockerCredentials } from "./docker-config.ts";
import { chartErrors } from "./errors.ts";
import type { ChartSource } from "./source.ts";

export interface AccessSecretOptions {
  /** Docker's configuration has credentials by host. */
  readonly source: ChartSource;
  /** The HelmOp's own switch; where it is set it overrides the Secret's, as in Fleet. */
  readonly insecureSkipVerify?: boolean | undefined;
  /** Authorities that are trusted where the Secret names none. */
  readonly caBundle?: string | undefined;
}

const pemCertificate = "-----BEGIN CERTIFICATE-----";

/** Without a Secret (undefined) there are no credentials. What is wrong with one is said without a word of its content. */
export function accessSettingsFromSecret(
  secret: ReferencedObjectData | undefined,
  { source, insecureSkipVerify, caBundle }: AccessSecretOptions,
): AccessSettings | AppError {
  const data = textsOf(secret);
  const credentials = credentialsOf(data, source);
  if (credentials instanceof AppError) return credentials;
  const certificate = clientCertificateOf(data);
  if (certificate instanceof AppError) return certificate;

  const caKey = ["cacerts", "ca.crt"].find((key) => given(data[key]));
  const caPem = caKey === undefined ? caBundle : data[caKey];
  if (caKey !== undefined && caPem?.includes(pemCertificate) !== true)
    return invalid(`${caKey} of the secret holds no certificate in PEM form (${pemCertificate})`);

  return {
    ...credentials,
    ...certificate,
    ...(given(caPem) && { caPem }),
    ...((insecureSkipVerify ?? isTrue(data["insecureSkipVerify"])) && { insecureSkipVerify: true }),
    ...(isTrue(data["basicHTTP"]) && { plainHttp: true }),
  };
}

type Texts = Readonly<Record<string, string | undefined>>;

function textsOf(secret: ReferencedObjectData | undefined): Texts {
  return Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, text]) => [
      key,
      Buffer.from(text, "base64").toString(),
    ]),
  );
}

function credentialsOf(data: Texts, source: ChartSource): AccessSettings | AppError {
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

/** What Go's strconv.ParseBool takes for true; everything else is false. */
function isTrue(text: string | undefined): boolean {
  return text !== undefined && ["1", "t", "T", "true", "TRUE", "True"].includes(text.trim());
}

function invalid(message: string): AppError {
  return new AppError(chartErrors.REPOSITORY_SECRET_INVALID, message);
}
