/**
 * Who sends a request, and whether they may: by the API server of the hub, as for its own resources. The token has to be one for
 * this hub alone, so that nobody who sees it, this process included, can use it for anything else.
 */
import { requestsAudience } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type SubjectAccessReview,
  subjectAccessReviews,
  type TokenReview,
  tokenReviews,
} from "@flotilla/shared/kube/objects";
import { requestErrors } from "../dispatch/index.ts";
import type { UserRequest } from "./parse-request.ts";

export interface User {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A JWT of a ServiceAccount has some 1,200 characters. */
const maxTokenChars = 16_384;
/** They are not stored; only our client wants a name. */
const metadata = { name: "request" };

/** Throws REQUEST_UNAUTHENTICATED. */
export async function authenticate(
  rest: Pick<KubeRest, "create">,
  token: string,
  signal: AbortSignal,
): Promise<User> {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) || token.length > maxTokenChars)
    throw unauthenticated("the request has no token of a ServiceAccount");
  const review: TokenReview = { metadata, spec: { token, audiences: [requestsAudience] } };
  const { status } = await rest.create(tokenReviews, review, { signal });
  const { username = "", uid = "", groups = [], extra = {} } = status?.user ?? {};
  const isForHub = status?.audiences?.includes(requestsAudience) === true;
  if (status?.authenticated !== true || !isForHub || username === "")
    throw unauthenticated(
      `the API server does not accept the token for the audience ${requestsAudience}`,
    );
  return { username, uid, groups, extra };
}

/** Throws REQUEST_FORBIDDEN. */
export async function authorize(
  rest: Pick<KubeRest, "create">,
  user: User,
  { workspace, body }: UserRequest,
  signal: AbortSignal,
): Promise<void> {
  const { username, uid, groups, extra } = user;
  const review: SubjectAccessReview = {
    metadata,
    spec: {
      ...{ user: username, uid, groups, extra },
      resourceAttributes: {
        ...{ group: "fleet.cattle.io", version: "v1alpha1", resource: "bundledeployments" },
        ...{ subresource: body.kind, namespace: workspace, verb: "get" },
      },
    },
  };
  const { status } = await rest.create(subjectAccessReviews, review, { signal });
  if (status?.allowed === true) return;
  throw new AppError(
    requestErrors.REQUEST_FORBIDDEN,
    `${username} may not get bundledeployments/${body.kind} of API group fleet.cattle.io in namespace ${workspace}`,
  );
}

function unauthenticated(message: string): AppError {
  return new AppError(requestErrors.REQUEST_UNAUTHENTICATED, message);
}
