/**
 * Who sends a request, and whether they may. The token has to be one for this hub alone, so that nobody who sees it, this process
 * included, can use it for anything else.
 */

import { requestsAudience } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";
import {
  type Attributes,
  type Reviewer,
  reviewAccess,
  reviewToken,
  type User,
} from "../access/reviews.ts";
import type { UserRequest } from "./parse-request.ts";

/** A JWT of a ServiceAccount has some 1,200 characters. */
const maxTokenChars = 16_384;

/** Throws REQUEST_UNAUTHENTICATED and REVIEW_FAILED. */
export async function authenticate(
  rest: Reviewer,
  token: string,
  signal: AbortSignal,
): Promise<User> {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) || token.length > maxTokenChars)
    throw unauthenticated("the request has no token of a ServiceAccount");
  const user = await reviewToken(rest, token, { audience: requestsAudience, signal });
  if (user !== undefined) return user;
  throw unauthenticated(
    `the API server does not accept the token for the audience ${requestsAudience}`,
  );
}

/** Throws REQUEST_FORBIDDEN and REVIEW_FAILED. */
export async function authorize(
  rest: Reviewer,
  user: User,
  { workspace, body }: UserRequest,
  signal: AbortSignal,
): Promise<void> {
  if (await reviewAccess(rest, user, requestAttributes(workspace, body.kind), signal)) return;
  throw forbidden(user, workspace, body.kind);
}

/** The right that a request needs. The subresources exist only for this. */
export function requestAttributes(namespace: string, subresource: string): Attributes {
  return {
    group: "fleet.cattle.io",
    version: "v1alpha1",
    resource: "bundledeployments",
    subresource,
    namespace,
    verb: "get",
  };
}

export function forbidden({ username }: User, workspace: string, subresource: string): AppError {
  return new AppError(
    hubErrors.REQUEST_FORBIDDEN,
    `${username} may not get bundledeployments/${subresource} of API group fleet.cattle.io in namespace ${workspace}`,
  );
}

function unauthenticated(message: string): AppError {
  return new AppError(hubErrors.REQUEST_UNAUTHENTICATED, message);
}
