/** Makes the records of a release known, as its account, if impersonation is required. */
import type { DeploymentContent } from "@flotilla/shared/content";
import type { ImpersonatedClient } from "../../base/index.ts";
import type { Releases } from "../../helm/index.ts";
import type { Attempts, Inventory, ReleaseAssignment } from "../../state/index.ts";

export interface ObserveDeps {
  readonly releases: Pick<Releases, "observe">;
  readonly inventory: Pick<Inventory, "releasesOf">;
  readonly attempts: Pick<Attempts, "runOf">;
}

export interface ObserveOptions {
  /** Undefined: the assignment was lost. */
  readonly content: Pick<DeploymentContent, "namespace" | "recordsNamespace"> | undefined;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

/** Throws RELEASE_UNREADABLE if the account may not. */
export async function observeReleases(
  { releases, inventory, attempts }: ObserveDeps,
  { owner }: Pick<ReleaseAssignment, "owner">,
  { content, client, signal }: ObserveOptions,
): Promise<void> {
  const installed = inventory.releasesOf(owner.id).map(({ namespace }) => namespace);
  const interrupted = attempts.runOf(owner.id)?.namespace;
  const namespaces = [
    ...(content === undefined ? [] : [content.namespace]),
    ...(content?.recordsNamespace === undefined ? [] : [content.recordsNamespace]),
    ...installed,
    ...(interrupted === undefined ? [] : [interrupted]),
  ];
  await releases.observe(owner.id, { client: client.watch, namespaces, signal });
}
