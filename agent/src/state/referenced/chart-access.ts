/** Access to a chart's source, with the credentials that the deployment references. */

import type { SourceAccess } from "@flotilla/shared/api";
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import {
  accessTo,
  chartErrors,
  type Pin,
  type RepositoryAccess,
  type SourceLocation,
} from "@flotilla/shared/source";
import {
  accessFromSourceSecrets,
  accessSettingsFromSecret,
} from "@flotilla/shared/source/credentials";
import { nameOnHub, type ReferencedDeps, requireObject } from "./require-object.ts";

const use = { field: "helmSecretName", purpose: "with the credentials for the chart's source" };

/** Throws REFERENCED_OBJECT_PENDING, REFERENCED_OBJECT_NOT_FOUND, REPOSITORY_SECRET_INVALID or SOURCE_UNSUPPORTED. */
export function chartAccess(content: DeploymentContent, deps: ReferencedDeps): RepositoryAccess {
  const { insecureSkipVerify, source, included = [] } = content.access;
  const { dependencies = [], repositories } = content.access;
  if (source === undefined) return helmOpAccess(content, deps);
  return {
    ...sourceAccess(source, sourceOf(content, source.url), deps),
    ...(insecureSkipVerify !== undefined && { insecureSkipVerify }),
    ...(included.length > 0 && {
      included: included.map((each) => sourceAccess(each, locationOf(each.url ?? ""), deps)),
    }),
    ...(repositories !== undefined && { dependencyRepositories: repositories }),
    ...(dependencies.length > 0 && {
      dependencies: dependencies.map((each) => {
        const url = each.url ?? "";
        return { url, access: sourceAccess(each, locationOf(url), deps) };
      }),
    }),
  };
}

/** With the Secrets of a source of Flux, in the namespace of that source. */
function sourceAccess(
  { kind, url = "", secret, certSecret, proxySecret, insecure, passCredentials }: SourceAccess,
  location: SourceLocation,
  deps: ReferencedDeps,
): RepositoryAccess {
  const read = (name: string | undefined, field: string, purpose: string) =>
    name === undefined
      ? undefined
      : requireObject({ kind: "Secret", name }, { field: `${kind}'s ${field}`, purpose }, deps);
  const settings = accessFromSourceSecrets(
    kind,
    {
      secret: read(secret, "secretRef", use.purpose),
      certSecret: read(certSecret, "certSecretRef", "with the certificates for the chart's source"),
      proxySecret: read(proxySecret, "proxySecretRef", "with the proxy of the chart's source"),
    },
    { url, insecure, passCredentials },
  );
  if (!(settings instanceof AppError)) return accessTo(location, settings);
  const names = [secret, certSecret, proxySecret].filter((name) => name !== undefined);
  const { SOURCE_UNSUPPORTED, REPOSITORY_SECRET_INVALID } = chartErrors;
  const isUnsupported = settings.code === SOURCE_UNSUPPORTED.code;
  const secrets = names.length === 0 ? "" : ` from the hub's Secrets ${names.join(", ")}`;
  throw new AppError(
    isUnsupported ? SOURCE_UNSUPPORTED : REPOSITORY_SECRET_INVALID,
    `read the credentials for the chart's source${secrets}: ${settings.message}`,
  );
}

/** With the Secret of a HelmOp, in its workspace. */
function helmOpAccess(content: DeploymentContent, deps: ReferencedDeps): RepositoryAccess {
  const { insecureSkipVerify, secret, caBundle } = content.access;
  const source = sourceOf(content);
  const object =
    secret === undefined ? undefined : requireObject({ kind: "Secret", name: secret }, use, deps);
  const settings = accessSettingsFromSecret(object, { source, insecureSkipVerify, caBundle });
  if (settings instanceof AppError) {
    throw new AppError(
      chartErrors.REPOSITORY_SECRET_INVALID,
      `read the credentials for the chart's source from the hub's Secret ${nameOnHub(secret ?? "", deps)}: ${settings.message}`,
    );
  }
  return accessTo(source, settings);
}

/** What the credentials are for. The pin may be on another host, to which they are not sent. */
function sourceOf({ pin, access }: DeploymentContent, url?: string): SourceLocation {
  return locationOf(url ?? access.repository ?? repositoryOf(pin));
}

function locationOf(repository: string): SourceLocation {
  return /^oci:\/\//i.test(repository)
    ? { kind: "oci", repository }
    : { kind: "http", repository, chart: "" };
}

function repositoryOf(pin: Pin): string {
  if (pin.kind === "oci") return pin.repository;
  if (pin.kind !== "bucket") return pin.url;
  return `${pin.insecure === true ? "http" : "https"}://${pin.endpoint}`;
}
