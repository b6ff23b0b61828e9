/**
 * Finds by its labels what was installed for a deployment that is withdrawn, for an agent that has lost all its Secrets. Tenants
 * can write labels, so the records do not become the agent's: their hooks never run, and the agent itself deletes nothing by
 * them that it cannot account for (docs/adr/0025).
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient, ImpersonatedClients } from "../../base/index.ts";
import type { ReleaseKey } from "../../helm/index.ts";
import type { Inventory, ReleaseAssignment, ReleaseOwner } from "../../state/index.ts";
import { downstreamObjects, inventoryRelease, mayBeOf, ownerSelector } from "../action/claims.ts";

export interface LostReleasesDeps {
  readonly clients: Pick<ImpersonatedClients, "clientFor">;
  readonly inventory: Pick<Inventory, "ownerOf" | "knows" | "installed" | "setObjects">;
  readonly log: Log;
}

/**
 * Looks for the releases of a deployment that is withdrawn, unless the inventory has them. One that is not marked as lost was
 * perhaps never installed: then what its account may not do does not keep it, because the account may never have been able to.
 * Throws RELEASE_UNREADABLE, and what `clientFor` throws.
 */
export async function findLostReleases(
  deps: LostReleasesDeps,
  assignment: Pick<ReleaseAssignment, "owner" | "deploymentId" | "lost">,
  content: DeploymentContent,
): Promise<void> {
  const { clients, inventory, log } = deps;
  const { owner, lost = false } = assignment;
  if (!lost && inventory.knows(owner)) return;
  try {
    await findAs(await clients.clientFor(content.serviceAccount), deps, assignment, content);
  } catch (thrown) {
    if (lost || !isAccountFailure(thrown)) throw thrown;
    log.warn(
      { deployment: owner.name, err: messageOf(thrown) },
      "withdrawn deployment was never installed as far as the agent knows, and its service account may not look for a release of it; if there is one, it stays",
    );
  }
}

/** Enters what an account finds: in the namespace of the release, or in all where the agent reads for it. */
async function findAs(
  { watch, isAgent }: ImpersonatedClient,
  { inventory, log }: LostReleasesDeps,
  { owner, deploymentId }: Pick<ReleaseAssignment, "owner" | "deploymentId">,
  content: DeploymentContent,
): Promise<void> {
  const { rest, subject, isPerNamespace } = watch;
  const namespace = isPerNamespace ? content.namespace : undefined;
  try {
    const releases = await releasesOf({ rest, inventory, namespace, content }, owner);
    for (const place of releases) {
      const { namespace, name: releaseName } = place;
      const release = inventoryRelease({ owner, deploymentId }, content, {
        namespace,
        releaseName,
      });
      await inventory.installed(owner.id, release, { added: [], kept: [] });
    }
    // Without an account nothing limits what would be deleted.
    const objects = isAgent ? [] : await downstreamObjects(rest, owner, content);
    if (objects.length > 0) await inventory.setObjects(owner.id, objects);
    log.info(
      { deployment: owner.name, releases: releases.length, objects: objects.length },
      "looked for what was installed for a withdrawn deployment, as the agent has lost its Secrets",
    );
  } catch (thrown) {
    if (AppError.from(thrown).code === agentErrors.INVENTORY_NOT_STORED.code) throw thrown;
    throw new AppError(
      agentErrors.RELEASE_UNREADABLE,
      `look for the release of a withdrawn deployment in ${namespace === undefined ? "all namespaces" : `namespace ${namespace}`} as ${subject}, because the agent has lost its Secrets: ${messageOf(thrown)}; the withdrawal is not confirmed`,
      { cause: thrown },
    );
  }
}

/** Those that the labels name as a deployment's, and the inventory as nobody's. */
async function releasesOf(
  search: {
    readonly rest: KubeRest;
    readonly inventory: Pick<Inventory, "ownerOf">;
    readonly namespace?: string | undefined;
    readonly content: DeploymentContent;
  },
  owner: ReleaseOwner,
): Promise<readonly ReleaseKey[]> {
  const { rest, inventory, namespace, content } = search;
  const { items } = await rest.list(secrets, {
    ...(namespace !== undefined && { namespace }),
    labelSelector: ownerSelector(owner),
  });
  const found = new Map<string, ReleaseKey>();
  for (const { metadata } of items) {
    const place = { namespace: metadata.namespace ?? "", name: metadata.labels?.["name"] ?? "" };
    if (inventory.ownerOf(place) === undefined && mayBeOf(owner, content, place))
      found.set(`${place.namespace}/${place.name}`, place);
  }
  return [...found.values()];
}

function isAccountFailure(thrown: unknown): boolean {
  const { code, cause } = AppError.from(thrown);
  if (code === agentErrors.RELEASE_UNREADABLE.code) return isForbidden(cause);
  return accountFailures.some((kind) => kind.code === code);
}

const accountFailures = [
  agentErrors.SERVICE_ACCOUNT_MISSING,
  agentErrors.SERVICE_ACCOUNT_REQUIRED,
  agentErrors.SERVICE_ACCOUNT_DENIED,
];
