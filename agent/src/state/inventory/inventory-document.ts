/** Changes of what the inventory keeps of one deployment. Pure. */
import type {
  InventoryAttempt,
  InventoryDeadline,
  InventoryDocument,
  InventoryRelease,
  InventoryRevision,
  InventoryRun,
} from "./inventory-secret.ts";

/** Whose a release is: the release of this id, of the deployment with this UID. */
export interface OwnerKey {
  /** See ReleaseOwner. */
  readonly id: string;
  readonly uid: string;
}

export interface ReleaseRef {
  readonly namespace: string;
  readonly name: string;
}

/** What a request does as soon as it is accepted. */
export interface RequestEffects {
  /** Nothing of it is left to be done by a run of Helm. */
  readonly isHandled: boolean;
  /** No failed attempts are counted any more. */
  readonly resetsFailures: boolean;
}

export interface InstalledRevisions {
  readonly added: readonly InventoryRevision[];
  /** Older ones that still exist; others are dropped. */
  readonly kept: readonly number[];
  /** The run that created them has ended: with the same write. */
  readonly endsRun?: boolean;
  /** The run was interrupted together with the agent: what a user has requested by it is still to be done. */
  readonly keepsRequest?: boolean;
  /** One of them is deployed: what was refused of it is part of its notes. */
  readonly isDeployed?: boolean;
  /** The run has failed, with these hooks; absent: that before stays, until one is deployed. */
  readonly attempt?: InventoryAttempt | undefined;
  /** Until its objects must be ready, from now on; absent: the one before ends. */
  readonly deadline?: InventoryDeadline | undefined;
}

/** With the revisions of a release, which becomes one of the deployment. */
export function withInstalled(
  { stoppedAt: _, run, deadline: __, refused, attempt: before, ...document }: InventoryDocument,
  release: Omit<InventoryRelease, "revisions">,
  {
    added,
    kept,
    endsRun = false,
    keepsRequest = false,
    isDeployed = false,
    deadline,
    attempt = before,
  }: InstalledRevisions,
): InventoryDocument {
  const others = document.releases.filter((each) => keyOf(each) !== keyOf(release));
  const known = document.releases.find((each) => keyOf(each) === keyOf(release))?.revisions ?? [];
  const isAdded = new Set(added.map(({ revision }) => revision));
  const old = known.filter(({ revision }) => kept.includes(revision) && !isAdded.has(revision));
  return {
    ...document,
    uid: release.uid,
    ...(!isDeployed && refused !== undefined && { refused }),
    ...(!isDeployed && attempt !== undefined && { attempt }),
    ...(deadline !== undefined && { deadline }),
    ...(!endsRun && run !== undefined && { run: keepsRequest ? run : withoutRequest(run) }),
    releases: [...others, { ...release, revisions: [...old, ...added] }],
  };
}

function withoutRequest({ request: _, ...run }: InventoryRun): InventoryRun {
  return run;
}

export function isEmpty({ deployment: _, releases, objects, ...rest }: InventoryDocument): boolean {
  return (
    releases.length + objects.length === 0 &&
    Object.values(rest).every((each) => each === undefined)
  );
}

export function keyOf({ namespace, name }: ReleaseRef): string {
  return `${namespace}/${name}`;
}
