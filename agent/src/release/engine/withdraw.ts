/**
 * Removes everything that was installed as a release of a deployment, also if its assignment was lost; of a suspended one nothing,
 * and nothing without the account of a HelmRelease.
 */

import type { DeploymentContent } from "@flotilla/shared/content";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { ImpersonatedClient, ImpersonatedClients } from "../../base/index.ts";
import {
  deleteCreatedNamespace,
  isLocked,
  type ReleaseRecord,
  type Releases,
  type StoredReleases,
  type UninstallFlags,
  uninstallFlags,
} from "../../helm/index.ts";
import type { DownstreamResources, InputCollector } from "../../inputs/index.ts";
import type { Attempts, Inventory, ReleaseAssignment, ReleaseOwner } from "../../state/index.ts";
import { contentOf, crdPolicy } from "../action/assigned-content.ts";
import { claimInterruptedRun, runOf } from "../action/claims.ts";
import type { HelmUninstall } from "../action/helm-uninstall.ts";
import { type LockTimes, lockedError, lockTimeoutMs } from "../action/lock-times.ts";
import { defaultLockTimeoutMs } from "../state/action.ts";
import { isOwnLock } from "../state/release-state.ts";
import type { DecisionLog, WithdrawalReason } from "./decision-log.ts";
import { findLostReleases } from "./lost-releases.ts";
import { observeReleases } from "./observe-releases.ts";
import { passKind } from "./pass-kind.ts";

export interface WithdrawDeps {
  readonly clients: Pick<ImpersonatedClients, "clientFor" | "isGone" | "isRequired">;
  readonly releases: Pick<Releases, "observe" | "ownedBy" | "latest" | "history" | "unfollow">;
  readonly stored: Pick<StoredReleases, "read" | "unlock" | "deleteHistory">;
  readonly downstream: Pick<DownstreamResources, "has" | "remove" | "forget">;
  readonly inventory: Inventory;
  readonly attempts: Pick<Attempts, "runOf">;
  readonly inputs: Pick<InputCollector, "forget" | "layers">;
  readonly lockTimes: LockTimes;
  readonly decisions: DecisionLog;
  readonly uninstallRelease: HelmUninstall;
  readonly log: Log;
}

/**
 * Throws what `uninstall` throws, RELEASE_LOCKED while another Helm client changes the release, and RELEASE_UNREADABLE if the
 * release cannot be looked for.
 */
export async function withdraw(
  tools: WithdrawDeps,
  assignment: ReleaseAssignment,
  signal: AbortSignal,
): Promise<void> {
  const { clients, releases, downstream, inventory, log } = tools;
  const { owner } = assignment;
  if (passKind(assignment) === "leave") return await leave(tools, owner, "Suspended");
  const account = await accountOf(tools, assignment);
  // As in Flux: with its namespace the account is deleted first, and would keep the HelmRelease, and so the namespace, from going.
  if (await clients.isGone(account)) {
    log.warn(
      { deployment: owner.id, serviceAccount: account },
      "nothing is uninstalled, because the service account does not exist any more",
    );
    return await leave(tools, owner, "ServiceAccountGone");
  }
  const settings = await withdrawalOf(tools, assignment, signal);
  const { keepResources, serviceAccount } = settings;
  const mustDeleteNamespaces = settings.deleteNamespace === true && !keepResources;
  const created = mustDeleteNamespaces ? inventory.namespacesOf(owner.id) : [];
  const owned = releases.ownedBy(owner.id).filter((record) => record.owner?.uid === owner.uid);
  // Without an installed release no account is needed.
  if (owned.length + created.length > 0 || downstream.has(owner.id)) {
    const client = await clients.clientFor(serviceAccount);
    for (const record of owned)
      await withdrawRelease(tools, record, { owner, settings, client, signal });
    if (!keepResources) await downstream.remove(owner.id, client, signal);
    for (const namespace of created) {
      const kept = await deleteCreatedNamespace(client, namespace, signal);
      if (kept !== undefined)
        log.warn(
          { deployment: owner.name, namespace: namespace.name, why: kept },
          "namespace is not deleted, although deleteNamespace is set",
        );
    }
  }
  await inventory.withdrawn(owner);
  await inventory.ensureStored(owner.id);
  forget(tools, owner);
}

/** What was installed stays. */
async function leave(
  tools: WithdrawDeps,
  owner: ReleaseOwner,
  reason: WithdrawalReason,
): Promise<void> {
  const { inventory, decisions } = tools;
  for (const release of inventory.releasesOf(owner.id))
    if (release.uid === owner.uid)
      decisions.decided(owner, release, { state: "withdrawn", reasons: [reason], action: "leave" });
  await inventory.left(owner);
  forget(tools, owner);
}

async function accountOf(
  { inventory }: WithdrawDeps,
  assignment: ReleaseAssignment,
): Promise<string | undefined> {
  const { serviceAccount } =
    assignment.content.length > 0
      ? await contentOf(assignment)
      : (installedFor(inventory, assignment) ?? {});
  return serviceAccount;
}

function installedFor(inventory: Pick<Inventory, "releasesOf">, { owner }: ReleaseAssignment) {
  return inventory.releasesOf(owner.id).find(({ uid }) => uid === owner.uid);
}

function forget(
  { releases, downstream, inputs, decisions }: WithdrawDeps,
  { id }: ReleaseOwner,
): void {
  releases.unfollow(id);
  downstream.forget(id);
  inputs.forget(id);
  decisions.forget(id);
}

/** The options that a withdrawal needs. */
type WithdrawalOptions = Pick<
  DeploymentContent,
  "serviceAccount" | "keepResources" | "deleteCRDResources" | "deleteNamespace"
> & {
  readonly lockTimeoutMs: number;
  readonly flags: UninstallFlags;
  /** Absent where the assignment was lost. */
  readonly content?: DeploymentContent;
};

async function withdrawalOf(
  tools: WithdrawDeps,
  assignment: ReleaseAssignment,
  signal: AbortSignal,
): Promise<WithdrawalOptions> {
  if (assignment.content.length > 0) {
    const content = await contentOf(assignment);
    await findLostReleases(tools, assignment, content);
    await observe(tools, assignment, content, signal);
    await claimInterruptedRun(tools, assignment, content);
    return {
      ...content,
      content,
      lockTimeoutMs: lockTimeoutMs(content),
      flags: uninstallFlags(content),
    };
  }
  // The assignment was lost; the inventory has what is needed.
  const release = installedFor(tools.inventory, assignment);
  await observe(tools, assignment, release, signal);
  return {
    serviceAccount: release?.serviceAccount,
    keepResources: release?.keepResources ?? false,
    deleteCRDResources: release?.deleteCRDResources,
    deleteNamespace: release?.deleteNamespace,
    lockTimeoutMs: defaultLockTimeoutMs,
    flags: release?.uninstallFlags ?? {},
  };
}

/** Only what may be installed: a deployment that was rejected for its account is removed without one. */
async function observe(
  tools: WithdrawDeps,
  assignment: ReleaseAssignment,
  content: Pick<DeploymentContent, "namespace" | "serviceAccount"> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { clients, inventory, attempts } = tools;
  const { id } = assignment.owner;
  const isInstalled = inventory.releasesOf(id).length > 0 || attempts.runOf(id) !== undefined;
  if (!clients.isRequired || !isInstalled) return;
  const client = await clients.clientFor(content?.serviceAccount);
  const place = content && { namespace: content.namespace };
  await observeReleases(tools, assignment, { content: place, client, signal });
}

interface Withdrawal {
  readonly owner: ReleaseOwner;
  readonly settings: WithdrawalOptions;
  readonly client: ImpersonatedClient;
  readonly signal: AbortSignal;
}

async function withdrawRelease(
  tools: WithdrawDeps,
  record: ReleaseRecord,
  withdrawal: Withdrawal,
): Promise<void> {
  const { stored, inputs, lockTimes, decisions, uninstallRelease } = tools;
  const { owner, settings, client, signal } = withdrawal;
  if (isLocked(record)) await unlock(tools, record, withdrawal);
  lockTimes.forget(record);
  const { keepResources } = settings;
  decisions.decided(owner, record, {
    state: "withdrawn",
    reasons: keepResources ? ["Removed", "KeepResources"] : ["Removed"],
    action: keepResources ? "deleteHistory" : "uninstall",
  });
  if (keepResources) await stored.deleteHistory(client.rest, record, signal);
  else {
    const policy = crdPolicy(settings, client, signal);
    const redact = (text: string) => withoutSecrets(inputs, settings.content, text, policy);
    await uninstallRelease(record, { ...policy, isForced: false, flags: settings.flags, redact });
  }
}

/** Nobody can force a deployment that is deleted, so a lock of others ends after its timeout. Until then throws RELEASE_LOCKED. */
async function unlock(
  { stored, attempts, lockTimes, decisions }: WithdrawDeps,
  record: ReleaseRecord,
  { owner, settings, client }: Withdrawal,
): Promise<void> {
  const isOwn = isOwnLock(record, owner, runOf(attempts, owner.id, record));
  const mustWait = !isOwn && lockTimes.unchangedMs(record) < settings.lockTimeoutMs;
  decisions.decided(owner, record, {
    state: "locked",
    reasons: [isOwn ? "Interrupted" : "LockedByOthers"],
    action: mustWait ? "locked" : "unlock",
  });
  if (mustWait) throw lockedError(record);
  await stored.unlock(client.rest, record);
}

/** Read only now: without an error no Secret is needed. What cannot be checked for values of Secrets is left out. */
async function withoutSecrets(
  inputs: Pick<InputCollector, "layers">,
  content: DeploymentContent | undefined,
  text: string,
  options: { readonly client: ImpersonatedClient; readonly signal: AbortSignal },
): Promise<string> {
  if (content === undefined || !hasSecretValues(content)) return text;
  try {
    return (await inputs.layers(content, options)).redact(text);
  } catch (thrown) {
    return `its output is left out, because it may have values of Secrets that cannot be read now: ${messageOf(thrown)}`;
  }
}

function hasSecretValues({ valuesFrom = [], hubValues = [] }: DeploymentContent): boolean {
  return [...valuesFrom, ...hubValues].some(({ kind }) => kind === "Secret");
}
