/** The right to read what a rollout changes in clusters. */
import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";
import type { Attributes, User } from "../access/reviews.ts";

/** The subresource exists only for this. */
export function planAttributes(namespace: string): Attributes {
  return {
    group: "flotilla.dev",
    version: "v1alpha1",
    resource: "bundlerollouts",
    subresource: "plan",
    namespace,
    verb: "get",
  };
}

/** Says which right a user lacks. */
export function planForbidden({ username }: User, workspace: string): AppError {
  return new AppError(
    hubErrors.REQUEST_FORBIDDEN,
    `${username} may not get bundlerollouts/plan of API group flotilla.dev in namespace ${workspace}`,
  );
}
