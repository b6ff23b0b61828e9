/** Access to a chart's source, with the credentials that the deployment references. */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import {
  accessTo,
  chartErrors,
  type Pin,
  type RepositoryAccess,
  type SourceLocation,
} from "@flotilla/shared/source";
import { accessSettingsFromSecret } from "@flotilla/shared/source/credentials";
import { nameOnHub, type ReferencedDeps, requireObject } from "./require-object.ts";

const use = { field: "helmSecretName", purpose: "with the credentials for the chart's source" };

/** Throws REFERENCED_OBJECT_PENDING, REFERENCED_OBJECT_NOT_FOUND or REPOSITORY_SECRET_INVALID. */
export function chartAccess(content: DeploymentContent, deps: ReferencedDeps): RepositoryAccess {
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
function sourceOf({ pin, access }: DeploymentContent): SourceLocation {
  const repository = access.repository ?? repositoryOf(pin);
  return /^oci:\/\//i.test(repository)
    ? { kind: "oci", repository }
    : { kind: "http", repository, chart: "" };
}

function repositoryOf(pin: Pin): string {
  if (pin.kind === "oci") return pin.repository;
  if (pin.kind !== "bucket") return pin.url;
  return `${pin.insecure === true ? "http" : "https"}://${pin.endpoint}`;
}
