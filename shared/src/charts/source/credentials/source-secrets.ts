/**
 * The access settings in the Secrets of Flux's sources (`secretRef`, `certSecretRef`, `proxySecretRef`), with Flux's keys. Pure.
 * The hub resolves with them, and agents fetch with them.
 */
import { AppError, unreachable } from "../../../runtime/errors/index.ts";
import { type AccessSettings, chartErrors } from "../index.ts";
import { dockerCredentials } from "./docker-config.ts";
import { proxyKeys, proxyOf } from "./proxy-secret.ts";
import {
  given,
  halfPair,
  invalidSecret,
  type SecretData,
  type Texts,
  textsOf,
  unescaped,
} from "./secret-texts.ts";
import { certificateKeys, certificatesOf } from "./tls-secret.ts";

export type SourceKind = "HelmRepository" | "OCIRepository" | "GitRepository" | "Bucket";

/** Undefined: the source names no such Secret. */
export interface SourceSecrets {
  readonly secret?: SecretData | undefined;
  readonly certSecret?: SecretData | undefined;
  readonly proxySecret?: SecretData | undefined;
}

/** Fields of the source. */
export interface SourceAccessOptions {
  /** The URL of a Bucket: any address of its endpoint. */
  readonly url: string;
  readonly insecure?: boolean | undefined;
  readonly provider?: string | undefined;
  readonly passCredentials?: boolean | undefined;
}

/** Errors name keys and never have any of the content. */
export function accessFromSourceSecrets(
  kind: SourceKind,
  { secret, certSecret, proxySecret }: SourceSecrets,
  options: SourceAccessOptions,
): AccessSettings | AppError {
  const keys = sourceSecretKeys(kind, options.url, { hasCertSecret: certSecret !== undefined });
  const data = secret && textsOf(secret, [...keys, ...refusedKeys]);
  const refused = providerProblem(kind, data, options);
  if (refused !== undefined) return refused;
  const credentials =
    data === undefined ? withoutSecret(kind, options) : credentialsOf(kind, data, options);
  if (credentials instanceof AppError) return credentials;
  const certificates = certificatesFrom(
    kind,
    data,
    certSecret && textsOf(certSecret, certificateKeys),
  );
  if (certificates instanceof AppError) return certificates;
  const proxy = proxySecret && proxyOf(textsOf(proxySecret, proxyKeys));
  if (proxy instanceof AppError) return proxy;
  return {
    secretField: "spec.secretRef",
    ...credentials,
    ...certificates,
    ...(proxy !== undefined && { proxy }),
    ...insecureSettings(kind, options, certSecret !== undefined),
    ...(kind === "HelmRepository" && options.passCredentials === true && { passCredentials: true }),
  };
}

/** The keys of the Secret of `secretRef` that are used. */
export function sourceSecretKeys(
  kind: SourceKind,
  url: string,
  { hasCertSecret }: { readonly hasCertSecret: boolean },
): readonly string[] {
  const beside = hasCertSecret ? [] : certificateKeys;
  switch (kind) {
    case "HelmRepository":
      return [...basicKeys, ...(isOci(kind, url) ? [".dockerconfigjson"] : []), ...beside];
    case "OCIRepository":
      return [".dockerconfigjson"];
    case "GitRepository":
      return isSsh(url)
        ? ["identity", "known_hosts", "password", ...beside]
        : [...basicKeys, "bearerToken", ...beside];
    case "Bucket":
      return ["accesskey", "secretkey"];
    default:
      return unreachable(kind);
  }
}

const basicKeys = ["username", "password"];

function isOci(kind: SourceKind, url: string): boolean {
  return kind === "OCIRepository" || (kind === "HelmRepository" && /^oci:/i.test(url));
}

const bucketKeys = "set spec.secretRef to a Secret with accesskey and secretkey";
const googleKeys =
  "use provider generic, endpoint storage.googleapis.com and a Secret with an HMAC key of Google (accesskey, secretkey)";

/** What a Bucket is read with instead of a provider's own interface. Azure has no interface of S3. */
const bucketInstead: ReadonlyMap<string, string> = new Map([
  ["gcp", googleKeys],
  ["azure", "put the charts into a bucket of S3, or into a registry"],
]);

/** Clouds' own credentials, which a hub and its agents in other clouds do not have. A registry with a Secret uses that, as in Flux. */
function providerProblem(
  kind: SourceKind,
  data: Texts | undefined,
  { provider = "generic", url }: SourceAccessOptions,
): AppError | undefined {
  if (provider === "generic" || provider === "") return undefined;
  const refuse = (instead: string): AppError =>
    new AppError(
      chartErrors.SOURCE_UNSUPPORTED,
      `spec.provider ${provider} of a ${kind} is not supported: ${instead}`,
    );
  switch (kind) {
    case "HelmRepository":
    case "OCIRepository":
      if (!isOci(kind, url) || data !== undefined) return undefined;
      return refuse("set spec.secretRef to a Secret with a .dockerconfigjson for the registry");
    case "GitRepository":
      if (provider === "github") return undefined;
      return refuse("set spec.secretRef to a Secret with username and password, or an SSH key");
    case "Bucket":
      return provider === "aws" && data !== undefined
        ? undefined
        : refuse(bucketInstead.get(provider) ?? bucketKeys);
    default:
      return unreachable(kind);
  }
}

function withoutSecret(
  kind: SourceKind,
  { url, provider }: SourceAccessOptions,
): AccessSettings | AppError {
  if (kind === "GitRepository" && provider === "github")
    return invalidSecret("spec.provider github needs spec.secretRef, a Secret with githubAppID");
  if (kind === "GitRepository" && isSsh(url))
    return invalidSecret(
      "spec.url is an address of SSH, which needs spec.secretRef, a Secret with identity and known_hosts",
    );
  return {};
}

function credentialsOf(
  kind: SourceKind,
  data: Texts,
  options: SourceAccessOptions,
): AccessSettings | AppError {
  switch (kind) {
    case "HelmRepository":
      return helmCredentials(data, options);
    case "OCIRepository":
      return registryCredentials(data, options.url);
    case "GitRepository":
      return gitCredentials(data, options);
    case "Bucket":
      return bucketCredentials(data);
    default:
      return unreachable(kind);
  }
}

function helmCredentials(data: Texts, { url }: SourceAccessOptions): AccessSettings | AppError {
  if (!isOci("HelmRepository", url)) return basicOf(data);
  return given(data[".dockerconfigjson"]) ? registryCredentials(data, url) : basicOf(data);
}

function registryCredentials(data: Texts, url: string): AccessSettings | AppError {
  const docker = data[".dockerconfigjson"];
  if (given(docker)) return dockerCredentials(docker, { kind: "oci", repository: url });
  // Flux ignores all other Secrets here.
  return { remark: "the secret has no .dockerconfigjson, so no credentials are used" };
}

const githubAppKeys = [
  "githubAppID",
  "githubAppPrivateKey",
  "githubAppInstallationOwner",
  "githubAppInstallationID",
];

/** What their presence alone says is an error, so no agent needs them. */
const refusedKeys = [...githubAppKeys, "serviceaccount"];

function gitCredentials(
  data: Texts,
  { url, provider }: SourceAccessOptions,
): AccessSettings | AppError {
  const appKey = githubAppKeys.find((key) => given(data[key]));
  if (appKey !== undefined && provider !== "github")
    return invalidSecret(`${appKey} is set in the secret, but spec.provider is not github`);
  if (appKey !== undefined)
    return new AppError(
      chartErrors.SOURCE_UNSUPPORTED,
      `${appKey} of the secret is the key of a GitHub App, which stays on the hub: the hub replaces it by a token of its installation`,
    );
  if (isSsh(url)) return sshCredentials(data, url);
  const bearerToken = data["bearerToken"]?.trim();
  const basic = basicOf(data);
  if (basic instanceof AppError) return basic;
  if (!given(bearerToken))
    return provider === "github" && basic.password === undefined
      ? invalidSecret("spec.provider is github, but the secret has no githubAppID")
      : basic;
  return basic.password === undefined
    ? { bearerToken }
    : invalidSecret("username and bearerToken are set in the secret: only one of them can be used");
}

function isSsh(url: string): boolean {
  return /^ssh:/i.test(url);
}

function sshCredentials(data: Texts, url: string): AccessSettings | AppError {
  const { identity, known_hosts: knownHosts, password: passphrase } = data;
  const [missing] = ["identity", "known_hosts"].filter((key) => !given(data[key]));
  if (!given(identity) || !given(knownHosts))
    return invalidSecret(`${missing ?? "identity"} is missing in the secret, and SSH needs it`);
  const username = URL.parse(url)?.username;
  return {
    ssh: {
      identityPem: identity,
      knownHosts,
      ...(given(passphrase) && { passphrase }),
      ...(given(username) && { username: unescaped(username) }),
    },
  };
}

function bucketCredentials(data: Texts): AccessSettings | AppError {
  const { accesskey: username, secretkey: password } = data;
  if (given(username) && given(password)) return { username, password };
  if (given(data["serviceaccount"]))
    return invalidSecret(
      `serviceaccount of the secret is a key of Google's own interface, which is not supported: ${googleKeys}`,
    );
  return (
    halfPair(data, "accesskey", "secretkey") ??
    invalidSecret("accesskey and secretkey are missing in the secret")
  );
}

function basicOf(data: Texts): AccessSettings | AppError {
  const { username, password } = data;
  if (given(username) && given(password)) return { username, password };
  return halfPair(data, "username", "password") ?? {};
}

/** `certSecretRef` alone counts where it is set. Git has its certificates beside the credentials, as HelmRepositories had once. */
function certificatesFrom(
  kind: SourceKind,
  data: Texts | undefined,
  certData: Texts | undefined,
): AccessSettings | AppError {
  if (certData !== undefined) {
    const settings = certificatesOf(certData);
    if (settings instanceof AppError || Object.keys(settings).length > 0) return settings;
    return invalidSecret("the secret of certSecretRef has neither ca.crt nor tls.crt and tls.key");
  }
  const isBeside = kind === "GitRepository" || kind === "HelmRepository";
  return isBeside && data !== undefined ? certificatesOf(data) : {};
}

function insecureSettings(
  kind: SourceKind,
  { insecure, url }: SourceAccessOptions,
  hasCertificates: boolean,
): AccessSettings {
  if (insecure !== true || !isOci(kind, url)) return {};
  if (kind === "HelmRepository") return { plainHttp: true };
  return { plainHttpFallback: true, ...(!hasCertificates && { insecureSkipVerify: true }) };
}
