/** How a release is to be applied, from what the API server has refused of it before. */
import {
  type ReleaseRecord,
  type Releases,
  type UpgradeOptions,
  upgradeOptions,
} from "../../helm/index.ts";
import type { ApplyNotes, Attempts, Inventory } from "../../state/index.ts";
import { isFirst, type RevisionInputs } from "./revision.ts";

export interface NotesDeps {
  readonly releases: Pick<Releases, "history">;
  readonly inventory: Pick<Inventory, "revisionOf">;
  readonly attempts: Pick<Attempts, "refusedOf">;
}

export interface ApplyPlan {
  readonly options: UpgradeOptions;
  /** The notes of the revision, once it is deployed; absent: it is applied as usual. */
  readonly notes?: ApplyNotes;
}

/** The method of the revision before is kept, as Helm itself does where nothing is set. */
export function planApply(
  deps: NotesDeps,
  { desired, content }: Pick<RevisionInputs, "desired" | "content">,
  { digest, latest }: { readonly digest: string; readonly latest: ReleaseRecord | undefined },
): ApplyPlan {
  const refused = deps.attempts.refusedOf(desired.owner.id);
  const current = refused?.digest === digest ? refused : undefined;
  const options = upgradeOptions(content, isFirst(latest));
  const before = isFirst(latest) ? undefined : lastNotes(deps, desired);
  const mayChange = mayChangeMethod(options);
  const clientSide = mayChange ? (current?.clientSide ?? before?.clientSide) : undefined;
  const isPatched = options.force && (current?.patched ?? before?.patched) === true;
  const replaced = current?.replaced;
  const notes: ApplyNotes = {
    ...(clientSide !== undefined && { clientSide }),
    ...(isPatched && { patched: true }),
    ...(replaced !== undefined && { replaced }),
  };
  return {
    options: upgradeOptions(content, isFirst(latest), {
      isClientSide: clientSide !== undefined,
      isPatched,
    }),
    ...(Object.keys(notes).length > 0 && { notes }),
  };
}

/**
 * Whether a run that a user has requested takes fields from other managers: server-side apply would fail by them, again and again.
 * Helm rejects it for a run that is applied by the client. `applyMethod`: of the newest revision, which Helm keeps by itself.
 */
export function mayTakeFields(
  { force, serverSide }: Pick<UpgradeOptions, "force" | "serverSide">,
  {
    isInstall,
    applyMethod,
  }: { readonly isInstall: boolean; readonly applyMethod?: string | undefined },
): boolean {
  if (force || serverSide === "false") return false;
  return serverSide === "true" || isInstall || applyMethod === "ssa";
}

/** Whether another method may be used than server-side apply: a user has not chosen it. */
export function mayChangeMethod({
  isMethodChosen,
  serverSide,
}: Pick<UpgradeOptions, "isMethodChosen" | "serverSide">): boolean {
  return !isMethodChosen && serverSide !== "false";
}

/** The notes of the revision that was deployed last. */
function lastNotes(
  { releases, inventory }: NotesDeps,
  { namespace, name }: RevisionInputs["desired"],
): ApplyNotes | undefined {
  const deployed = releases
    .history(namespace, name)
    .filter(({ status }) => status === "deployed" || status === "superseded")
    .toSorted((a, b) => b.revision - a.revision);
  const [last] = deployed;
  return last && inventory.revisionOf(last, last.revision)?.notes;
}
