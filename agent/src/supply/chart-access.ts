/** How a chart's source is accessed: with the credentials that the deployment names, out of what the hub supplied. */
import type { SupplyRef } from "@flotilla/proto/messages.ts";
import { accessTo, type RepositoryAccess } from "@flotilla/shared/charts/access.ts";
import { accessSettingsFromSecret } from "@flotilla/shared/charts/access-secret.ts";
import { chartErrors } from "@flotilla/shared/charts/errors.ts";
import type { ChartSource } from "@flotilla/shared/charts/source.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { SupplyObject } from "@flotilla/shared/supply/supply.ts";
import { agentErrors } from "../errors.ts";
import type { Facts } from "./facts.ts";
import type { Supplies } from "./supplies.ts";

export interface ChartAccessDeps {
  readonly supplies: Pick<Supplies, "get">;
  readonly facts: Pick<Facts, "get">;
}

/** Throws SUPPLY_AWAITED, SUPPLY_MISSING or REPOSITORY_SECRET_INVALID. */
export function chartAccess(content: DeploymentContent, deps: ChartAccessDeps): RepositoryAccess {
  const { insecureSkipVerify, secret, caBundle } = content.access;
  const source = sourceOf(content);
  const object = secret === undefined ? undefined : credentials(secret, deps);
  const settings = accessSettingsFromSecret(object, { source, insecureSkipVerify, caBundle });
  if (settings instanceof AppError) {
    throw new AppError(
      chartErrors.REPOSITORY_SECRET_INVALID,
      `read the credentials for the chart's source from the Secret ${shownName(secret ?? "", deps)} of the hub: ${settings.message}`,
    );
  }
  return accessTo(source, settings);
}

function credentials(name: string, deps: ChartAccessDeps): SupplyObject {
  const ref: SupplyRef = { kind: "Secret", name };
  const known = deps.supplies.get(ref);
  const shown = shownName(name, deps);
  if (known === undefined) {
    throw new AppError(
      agentErrors.SUPPLY_AWAITED,
      `waiting for the Secret ${shown}, with the credentials for the chart's source, which the hub has not sent yet`,
    );
  }
  if (known.object === undefined) {
    throw new AppError(
      agentErrors.SUPPLY_MISSING,
      `the hub has no Secret ${shown}, which helmSecretName names for the credentials of the chart's source; it goes on as soon as there is one`,
    );
  }
  return known.object;
}

/** Where the credentials are for; the pin may be at another host, which is shown none. */
function sourceOf({ pin, access }: DeploymentContent): ChartSource {
  const repository = access.repository ?? (pin.kind === "oci" ? pin.repository : pin.url);
  return /^oci:\/\//i.test(repository)
    ? { kind: "oci", repository }
    : { kind: "http", repository, chart: "" };
}

function shownName(name: string, { facts }: ChartAccessDeps): string {
  const namespace = facts.get()?.namespace;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
