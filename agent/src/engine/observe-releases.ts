/** Makes the records of a deployment's releases known, as its account, if impersonation is required. */
import type { DeploymentContent } from "@flotilla/shared/content";
import type { Assignment } from "../assignment/index.ts";
import type { Releases } from "../helm/index.ts";
import type { ImpersonatedClient } from "../impersonation/index.ts";
import type { Inventory } from "../inventory/index.ts";

export interface ObserveDeps {
  readonly releases: Pick<Releases, "observe">;
  readonly inventory: Pick<Inventory, "releasesOf" | "runOf">;
}

export interface ObserveOptions {
  /** Undefined: the assignment was lost. */
  readonly content: Pick<DeploymentContent, "namespace" | "recordsNamespace"> | undefined;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

/** Throws RELEASE_UNREADABLE if the account may not. */
export async function observeReleases(
  { releases, inventory }: ObserveDeps,
  { owner }: Pick<Assignment, "owner">,
  { content, client, signal }: ObserveOptions,
): Promise<void> {
  const installed = inventory.releasesOf(owner.name).map(({ namespace }) => namespace);
  const interrupted = inventory.runOf(owner.name)?.namespace;
  const namespaces = [
    ...(content === undefined ? [] : [content.namespace]),
    ...(content?.recordsNamespace === undefined ? [] : [content.recordsNamespace]),
    ...installed,
    ...(interrupted === undefined ? [] : [interrupted]),
  ];
  await releases.observe(owner.name, { client: client.watch, namespaces, signal });
}
