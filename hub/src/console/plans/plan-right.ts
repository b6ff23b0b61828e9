/** The rights to plans: to read what a rollout changes in clusters, and to ask what a change that is not written would. */
import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";
import type { Attributes, User } from "../access/reviews.ts";

/**
 * `create`: of a change. Agents render what its author sends with the rights of the app's account, so that it reads, by `lookup`, what
 * that account may read.
 */
export type PlanVerb = "get" | "create";

/** The subresource exists only for this. */
export function planAttributes(namespace: string, verb: PlanVerb = "get"): Attributes {
  return {
    group: "flotilla.dev",
    version: "v1alpha1",
    resource: "bundlerollouts",
    subresource: "plan",
    namespace,
    verb,
  };
}

/** Says which right a user lacks. */
export function planForbidden(
  { username }: User,
  workspace: string,
  verb: PlanVerb = "get",
): AppError {
  return new AppError(
    hubErrors.REQUEST_FORBIDDEN,
    `${username} may not ${verb} bundlerollouts/plan of API group flotilla.dev in namespace ${workspace}`,
  );
}
