/** Enters releases into the inventory that were installed without being entered: by an interrupted run, or by version 0.1.0. */
import type { DeploymentKey } from "@flotilla/proto";
import { copyOf } from "@flotilla/shared/api";
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { configMaps, type KubeObject, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import {
  isLocked,
  isSameContent,
  type ReadRecords,
  type ReleaseKey,
  type ReleaseRecord,
  type Releases,
  readLabelledRecord,
  releaseLabels,
  type StoredRelease,
  type StoredReleases,
  uninstallFlags,
} from "../../helm/index.ts";
import { downstreamLabel } from "../../inputs/index.ts";
import {
  type Attempts,
  type Inventory,
  type InventoryDeadline,
  type InventoryObject,
  type InventoryRelease,
  type InventoryRevision,
  type InventoryRun,
  isOnlyRelease,
  type ReleaseAssignment,
  type ReleaseOwner,
} from "../../state/index.ts";
import { contentOf } from "./assigned-content.ts";

/** What the inventory keeps of an assignment. */
export function inventoryRelease(
  { owner, deploymentId }: Pick<ReleaseAssignment, "owner" | "deploymentId">,
  content: DeploymentContent,
  { namespace, releaseName: name }: Pick<DeploymentContent, "namespace" | "releaseName"> = content,
): Omit<InventoryRelease, "revisions"> {
  return {
    namespace,
    name,
    uid: owner.uid,
    deploymentId,
    ...(content.serviceAccount !== undefined && { serviceAccount: content.serviceAccount }),
    keepResources: content.keepResources,
    deleteCRDResources: content.deleteCRDResources === true,
    ...(content.deleteNamespace === true && { deleteNamespace: true }),
    ...(content.actions !== undefined && { uninstallFlags: uninstallFlags(content) }),
  };
}

/** The run of this release that was interrupted. */
export function runOf(
  attempts: Pick<Attempts, "runOf">,
  id: string,
  { namespace, name }: ReleaseKey,
): InventoryRun | undefined {
  const run = attempts.runOf(id);
  return run?.namespace === namespace && run.release === name ? run : undefined;
}

export interface ClaimDeps {
  readonly releases: Pick<Releases, "latest" | "history">;
  readonly stored: Pick<StoredReleases, "read">;
  readonly inventory: Pick<Inventory, "installed" | "releasesOf">;
  readonly attempts: Pick<Attempts, "runOf">;
}

/**
 * Whether a record has the content of a revision that Helm has printed. One that Helm has written and not printed may have been
 * changed before the agent read it.
 */
export function isPrinted(
  inventory: Pick<Inventory, "releasesOf">,
  id: string,
  record: StoredRelease,
): boolean {
  return inventory
    .releasesOf(id)
    .filter(({ namespace, name }) => namespace === record.namespace && name === record.name)
    .flatMap(({ revisions }) => revisions)
    .some(({ content, fromRecord }) => fromRecord !== true && isSameContent(content, record));
}

/** An agent was ended before it could enter the revision that its run has created. */
export async function claimInterruptedRun(
  { releases, stored, inventory, attempts }: ClaimDeps,
  assignment: ReleaseAssignment,
  content: DeploymentContent,
): Promise<void> {
  const { owner } = assignment;
  const run = attempts.runOf(owner.id);
  if (run === undefined) return;
  const place = { namespace: run.namespace, releaseName: run.release };
  const latest = releases.latest(run.namespace, run.release);
  if (latest === undefined || latest.isOwn) return;
  // Helm copies the labels of the revision that it rolls back to.
  const isLabelled = run.target !== undefined || isSame(latest.labelled, owner);
  const isRun = latest.revision === run.revision && isLabelled;
  const isRollback = run.rollsBack && latest.revision === run.revision + 1;
  if (!isRun && !isRollback) return;
  const release = await stored.read(latest).catch((thrown: unknown) => {
    if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
    return undefined;
  });
  if (release === undefined) return;
  const { digest, origin, chartDigest, parts, reasons } = run;
  const isDeployed = latest.status === "deployed";
  const revision: InventoryRevision = {
    revision: latest.revision,
    content: release.content,
    ...(!isPrinted(inventory, owner.id, release) && { fromRecord: true }),
    // Without a digest it is upgraded once more: the agent was ended before it could repair lists.
    ...(isRun &&
      run.isClientSide !== true && {
        digest,
        ...(origin !== undefined && { origin }),
        chartDigest,
        ...(parts !== undefined && { parts }),
      }),
    ...(isRun && reasons !== undefined && { reasons }),
    ...chartOf(release),
    ...(isRun && isDeployed && run.notes !== undefined && { notes: run.notes }),
  };
  await inventory.installed(owner.id, inventoryRelease(assignment, content, place), {
    added: [revision],
    isDeployed,
    ...(isRun && isDeployed && { deadline: deadlineOf(run) }),
    kept: releases.history(run.namespace, run.release).map(({ revision }) => revision),
    endsRun: !isLocked(latest),
    keepsRequest: true,
  });
}

/** Enters the newest revision of a release, which somebody else created, and which is the same as one of the agent's. */
export async function claimSame(
  { releases, inventory }: Pick<ClaimDeps, "releases" | "inventory">,
  assignment: ReleaseAssignment,
  content: DeploymentContent,
  { record, same }: { readonly record: ReleaseRecord; readonly same: InventoryRevision },
): Promise<void> {
  const { tests: _, reasons: __, ...known } = same;
  await inventory.installed(assignment.owner.id, inventoryRelease(assignment, content), {
    added: [{ ...known, revision: record.revision }],
    kept: releases.history(record.namespace, record.name).map(({ revision }) => revision),
  });
}

function deadlineOf(run: InventoryRun): InventoryDeadline | undefined {
  const { namespace, release, revision, readyUntilMs: untilMs, target } = run;
  return untilMs === undefined
    ? undefined
    : { namespace, release, revision, untilMs, isRollback: target !== undefined };
}

/** What the inventory keeps of a release's chart. */
export function chartOf({ chartName, chartVersion, appVersion }: StoredRelease) {
  return { chartName, chartVersion, appVersion };
}

export interface TakeOverDeps {
  /** The agent's own, unless impersonation is required. */
  readonly rest: KubeRest;
  readonly records: Pick<ReadRecords, "stored">;
  /** Absent: all. */
  readonly namespace?: string | undefined;
  readonly inventory: Pick<Inventory, "installed" | "setObjects">;
  readonly log: Log;
}

/**
 * Takes over what the labels name as installed for this assignment: once, when there is no inventory at all. Records at
 * another place than the assigned one may be forged: they become the deployment's, but not records of the agent.
 */
export async function takeOver(
  { rest, records, namespace: only, inventory, log }: TakeOverDeps,
  assignment: ReleaseAssignment,
): Promise<void> {
  const { owner } = assignment;
  const content = await contentOf(assignment);
  const { items } = await rest.list(secrets, {
    ...(only !== undefined && { namespace: only }),
    labelSelector: ownerSelector(owner),
  });
  const places = new Map<string, Secret[]>();
  for (const secret of items) {
    const { namespace = "", labels } = secret.metadata;
    const found = { namespace, name: labels?.["name"] ?? "" };
    if (!mayBeOf(owner, content, found)) continue;
    const place = `${namespace}/${found.name}`;
    places.set(place, [...(places.get(place) ?? []), secret]);
  }
  for (const [place, found] of places) {
    const [namespace = "", releaseName = ""] = place.split("/");
    const isAssigned = namespace === content.namespace && releaseName === content.releaseName;
    const revisions = isAssigned ? await labelledRevisions(found, records) : [];
    const release = inventoryRelease(assignment, content, { namespace, releaseName });
    await inventory.installed(owner.id, release, { added: revisions, kept: [] });
  }
  const objects = await downstreamObjects(rest, owner, content);
  if (objects.length > 0) await inventory.setObjects(owner.id, objects);
  if (places.size > 0 || objects.length > 0)
    log.info(
      { deployment: owner.name, releases: places.size, objects: objects.length },
      "taken over by their labels, as there was no inventory",
    );
}

/** Selects the records whose labels name a deployment. */
export function ownerSelector({ name, uid }: DeploymentKey): string {
  return `owner=helm,${releaseLabels.deployment}=${name},${releaseLabels.uid}=${uid}`;
}

/** Whether what the labels name as a deployment's can be of this release: one of several is at its own place alone. */
export function mayBeOf(
  owner: ReleaseOwner,
  { namespace, releaseName }: Pick<DeploymentContent, "namespace" | "releaseName">,
  found: ReleaseKey,
): boolean {
  return isOnlyRelease(owner) || (found.namespace === namespace && found.name === releaseName);
}

/** The copies in a content whose labels name the deployment. */
export async function downstreamObjects(
  rest: KubeRest,
  { name: owner }: DeploymentKey,
  { namespace, copies = [] }: DeploymentContent,
): Promise<readonly InventoryObject[]> {
  if (copies.length === 0) return [];
  const options = { namespace, labelSelector: `${downstreamLabel}=${owner}` };
  const found = {
    Secret: await rest.list(secrets, options),
    ConfigMap: await rest.list(configMaps, options),
  };
  return copies.map(copyOf).flatMap(({ kind, name }) => {
    const items: readonly KubeObject[] = found[kind].items;
    const uid = items.find(({ metadata }) => metadata.name === name)?.metadata.uid;
    return uid === undefined ? [] : [{ kind, namespace, name, uid }];
  });
}

function isSame(a: DeploymentKey | undefined, b: DeploymentKey): boolean {
  return a?.name === b.name && a.uid === b.uid;
}

async function labelledRevisions(
  found: readonly Secret[],
  records: Pick<ReadRecords, "stored">,
): Promise<readonly InventoryRevision[]> {
  const revisions = await Promise.all(found.map((secret) => readLabelledRecord(secret, records)));
  return revisions.filter((each) => each !== undefined);
}
