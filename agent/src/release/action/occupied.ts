/** Why a release cannot be installed where another one is. Pure. */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { ReleaseRecord } from "../../helm/index.ts";
import type { OwnerKey } from "../../state/index.ts";

type Place = Pick<DeploymentContent, "namespace" | "releaseName">;

/** Another deployment of this agent has it. */
export function releaseConflict({ namespace, releaseName }: Place, { id }: OwnerKey): AppError {
  return new AppError(
    agentErrors.RELEASE_CONFLICT,
    `release ${namespace}/${releaseName} belongs to deployment ${id}; give one of the two another releaseName or namespace`,
  );
}

/** Somebody else has installed it. */
export function releaseExists(
  { namespace, releaseName }: Place,
  { revision }: Pick<ReleaseRecord, "revision">,
): AppError {
  return new AppError(
    agentErrors.RELEASE_EXISTS,
    `release ${namespace}/${releaseName} exists already, in revision ${revision}, and this agent did not install it; nothing was changed. Set helm.takeOwnership to take it over, or another releaseName or namespace`,
  );
}
