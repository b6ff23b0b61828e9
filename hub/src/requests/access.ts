/**
 * Who sends a request, and whether they may: by the API server of the hub, as for its own resources. The token has to be one for
 * this hub alone, so that nobody who sees it, this process included, can use it for anything else.
 */
import { requestsAudience } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import * as z from "zod";
import { requestErrors } from "../dispatch/index.ts";
import type { UserRequest } from "./parse-request.ts";

type Reviewer = Pick<KubeRest, "raw">;

export interface User {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A JWT of a ServiceAccount has some 1,200 characters. */
const maxTokenChars = 16_384;

const tokenReviewSchema = z.looseObject({
  status: z.looseObject({
    authenticated: z.boolean().default(false),
    audiences: z.array(z.string()).default([]),
    user: z
      .looseObject({
        username: z.string().default(""),
        uid: z.string().default(""),
        groups: z.array(z.string()).default([]),
        extra: z.record(z.string(), z.array(z.string())).default({}),
      })
      .default({ username: "", uid: "", groups: [], extra: {} }),
  }),
});

/** Throws REQUEST_UNAUTHENTICATED. */
export async function authenticate(
  rest: Reviewer,
  token: string,
  signal: AbortSignal,
): Promise<User> {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) || token.length > maxTokenChars)
    throw unauthenticated("the request has no token of a ServiceAccount");
  const group = "authentication.k8s.io/v1";
  const spec = { token, audiences: [requestsAudience] };
  const { status } = tokenReviewSchema.parse(
    await review(rest, { group, kind: "TokenReview", plural: "tokenreviews", spec }, signal),
  );
  const { username, uid, groups, extra } = status.user;
  const isForHub = status.audiences.includes(requestsAudience);
  if (!status.authenticated || !isForHub || username === "")
    throw unauthenticated(
      `the API server does not accept the token for the audience ${requestsAudience}`,
    );
  return { username, uid, groups, extra };
}

const accessReviewSchema = z.looseObject({
  status: z.looseObject({ allowed: z.boolean().default(false) }),
});

/** Throws REQUEST_FORBIDDEN. */
export async function authorize(
  rest: Reviewer,
  user: User,
  { workspace, body }: UserRequest,
  signal: AbortSignal,
): Promise<void> {
  const { username, uid, groups, extra } = user;
  const group = "authorization.k8s.io/v1";
  const spec = {
    ...{ user: username, uid, groups, extra },
    resourceAttributes: {
      ...{ group: "fleet.cattle.io", version: "v1alpha1", resource: "bundledeployments" },
      ...{ subresource: body.kind, namespace: workspace, verb: "get" },
    },
  };
  const kind = { group, kind: "SubjectAccessReview", plural: "subjectaccessreviews" };
  const { status } = accessReviewSchema.parse(await review(rest, { ...kind, spec }, signal));
  if (status.allowed) return;
  throw new AppError(
    requestErrors.REQUEST_FORBIDDEN,
    `${username} may not get bundledeployments/${body.kind} of API group fleet.cattle.io in namespace ${workspace}`,
  );
}

interface Review {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: unknown;
}

/** Nothing is stored. Without a name, which the API server rejects. */
async function review(
  rest: Reviewer,
  { group: apiVersion, kind, plural, spec }: Review,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const body = JSON.stringify({ apiVersion, kind, spec });
    return JSON.parse(await rest.raw(`/apis/${apiVersion}/${plural}`, { body, signal }));
  } catch (thrown) {
    // Without its message and without a cause: they may have the token.
    const why = thrown instanceof KubeStatusError ? `: ${thrown.status} ${thrown.reason}` : "";
    throw new AppError(
      requestErrors.REQUEST_INTERRUPTED,
      `the API server of the hub cannot answer the ${kind} of the request${why}; retry`,
    );
  }
}

function unauthenticated(message: string): AppError {
  return new AppError(requestErrors.REQUEST_UNAUTHENTICATED, message);
}
