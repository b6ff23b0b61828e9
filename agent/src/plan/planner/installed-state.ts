/** What is installed of a release that a plan is requested for, by what the agent and Helm have of it. Nothing is written. */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { Clock } from "@flotilla/shared/time";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import { type ReadRecords, type ReleaseKey, takesOwnership } from "../../helm/index.ts";
import type { ReleaseInputs } from "../../inputs/index.ts";
import {
  type Desired,
  determineState,
  releaseConflict,
  releaseExists,
} from "../../release/index.ts";
import type { Inventory, ReleaseAssignments, ReleaseOwner } from "../../state/index.ts";
import type { InstalledObject } from "../object/plan-objects.ts";
import { type InstalledRelease, readInstalled } from "../rendering/installed-release.ts";

export interface InstalledStateDeps {
  readonly assigned: Pick<ReleaseAssignments, "get">;
  readonly inventory: Inventory;
  readonly records: Pick<ReadRecords, "stored" | "wholeObjects">;
  readonly clock: Clock;
}

export interface ReleaseToPlan {
  readonly owner: ReleaseOwner;
  readonly content: DeploymentContent;
  readonly client: ImpersonatedClient;
  readonly inputs: ReleaseInputs;
}

export interface InstalledState extends InstalledRelease {
  /** Helm is not run: the release is as desired. */
  readonly isInSync: boolean;
  /** Objects of the release under earlier names and in earlier namespaces, which is uninstalled first. */
  readonly moved: readonly InstalledObject[];
  readonly applied: string;
  readonly revision: number;
}

/** Throws RELEASE_CONFLICT, RELEASE_EXISTS, RELEASE_LOCKED and what reading the records throws. */
export async function installedState(
  deps: InstalledStateDeps,
  { owner, content, client, inputs }: ReleaseToPlan,
  signal: AbortSignal,
): Promise<InstalledState> {
  const { assigned, inventory } = deps;
  const { namespace, releaseName: name } = content;
  const place = { namespace, name };
  const installed = await readInstalled(deps, client, place, signal);
  const { latest } = installed;
  const others = inventory.releasesOf(owner.id).filter((each) => !isAt(each, place));
  const earlier = await Promise.all(
    others.map((each) => readInstalled(deps, client, each, signal)),
  );
  const desired: Desired = { owner, namespace, name, digest: await inputs.digest(latest) };
  const state = determineState(desired, {
    latest,
    owned: [
      ...(latest === undefined ? [] : [latest]),
      ...earlier.flatMap((each) => each.latest ?? []),
    ],
    interruptedRun: undefined,
    deadline: undefined,
    testsOf: () => undefined,
    isAssigned: ({ id, uid }) => assigned.get(id)?.owner.uid === uid,
  });
  if (state.kind === "conflict") throw releaseConflict(content, state.owner);
  if (state.kind === "unmanaged" && state.isForeign && !takesOwnership(content))
    throw releaseExists(content, state.record);
  if (state.kind === "locked") throw locked(place, state.record);
  const known = inventory.releasesOf(owner.id).find((each) => isAt(each, place));
  return {
    ...installed,
    isInSync: state.kind === "inSync" || state.kind === "adoptable",
    moved: earlier.flatMap(({ base }) =>
      (base?.objects ?? []).map((document) => ({
        document,
        isUninstalled: true,
        namespace: base?.release.namespace ?? namespace,
      })),
    ),
    applied: latest?.isOwn === true ? (known?.deploymentId ?? "") : "",
    revision: latest?.revision ?? 0,
  };
}

function isAt(release: ReleaseKey, { namespace, name }: ReleaseKey): boolean {
  return release.namespace === namespace && release.name === name;
}

function locked(
  { namespace, name }: ReleaseKey,
  { revision, status }: { readonly revision: number; readonly status: string },
): AppError {
  return new AppError(
    agentErrors.RELEASE_LOCKED,
    `release ${namespace}/${name} is ${status} in revision ${revision}: Helm changes it now; retry once it has ended`,
  );
}
