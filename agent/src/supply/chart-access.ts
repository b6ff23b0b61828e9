/** How a chart's source is accessed: with the credentials that the deployment names, out of what the hub supplied. */

import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { accessTo, type RepositoryAccess } from "@flotilla/shared/source/access.ts";
import { accessSettingsFromSecret } from "@flotilla/shared/source/credentials/access-secret.ts";
import { chartErrors } from "@flotilla/shared/source/errors.ts";
import type { SourceLocation } from "@flotilla/shared/source/location.ts";
import { nameOnHub, type SuppliedDeps, supplied } from "./supplied.ts";

const use = { field: "helmSecretName", what: "with the credentials for the chart's source" };

/** Throws SUPPLY_AWAITED, SUPPLY_MISSING or REPOSITORY_SECRET_INVALID. */
export function chartAccess(content: DeploymentContent, deps: SuppliedDeps): RepositoryAccess {
  const { insecureSkipVerify, secret, caBundle } = content.access;
  const source = sourceOf(content);
  const object =
    secret === undefined ? undefined : supplied({ kind: "Secret", name: secret }, use, deps);
  const settings = accessSettingsFromSecret(object, { source, insecureSkipVerify, caBundle });
  if (settings instanceof AppError) {
    throw new AppError(
      chartErrors.REPOSITORY_SECRET_INVALID,
      `read the credentials for the chart's source from the Secret ${nameOnHub(secret ?? "", deps)} of the hub: ${settings.message}`,
    );
  }
  return accessTo(source, settings);
}

/** Where the credentials are for; the pin may be at another host, which is shown none. */
function sourceOf({ pin, access }: DeploymentContent): SourceLocation {
  const repository = access.repository ?? (pin.kind === "oci" ? pin.repository : pin.url);
  return /^oci:\/\//i.test(repository)
    ? { kind: "oci", repository }
    : { kind: "http", repository, chart: "" };
}
