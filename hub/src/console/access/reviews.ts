/** Reviews of tokens and rights by the API server of the hub, as for its own resources. Nothing is stored there. */

import { AppError } from "@flotilla/shared/errors";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import * as z from "zod";
import { hubErrors } from "../../base/index.ts";

export type Reviewer = Pick<KubeRest, "raw">;

export interface User {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What a user wants to do with a resource of the API server. */
export interface Attributes {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
  /** Absent: in every namespace. */
  readonly namespace?: string;
}

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

/**
 * Whose token it is; undefined if the API server does not accept it. `audience`: the only one that it may be for; absent: the one of
 * the API server. Throws REVIEW_FAILED.
 */
export async function reviewToken(
  rest: Reviewer,
  token: string,
  options: { readonly audience?: string; readonly signal?: AbortSignal } = {},
): Promise<User | undefined> {
  const { audience, signal } = options;
  const spec = { token, ...(audience !== undefined && { audiences: [audience] }) };
  const { status } = tokenReviewSchema.parse(await review(rest, { ...tokenReview, spec }, signal));
  const { username, uid, groups, extra } = status.user;
  const isForAudience = audience === undefined || status.audiences.includes(audience);
  return status.authenticated && isForAudience && username !== ""
    ? { username, uid, groups, extra }
    : undefined;
}

const accessReviewSchema = z.looseObject({
  status: z.looseObject({ allowed: z.boolean().default(false) }),
});

/** Whether `user` may do that. Throws REVIEW_FAILED. */
export async function reviewAccess(
  rest: Reviewer,
  { username, uid, groups, extra }: User,
  resourceAttributes: Attributes,
  signal?: AbortSignal,
): Promise<boolean> {
  const spec = { user: username, uid, groups, extra, resourceAttributes };
  const { status } = accessReviewSchema.parse(
    await review(rest, { ...subjectAccessReview, spec }, signal),
  );
  return status.allowed;
}

const tokenReview = {
  group: "authentication.k8s.io/v1",
  kind: "TokenReview",
  plural: "tokenreviews",
} as const;
const subjectAccessReview = {
  group: "authorization.k8s.io/v1",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
} as const;

interface Review {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: unknown;
}

/** Without a name, which the API server rejects. */
async function review(
  rest: Reviewer,
  { group: apiVersion, kind, plural, spec }: Review,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  try {
    const body = JSON.stringify({ apiVersion, kind, spec });
    const options = { body, ...(signal !== undefined && { signal }) };
    return JSON.parse(await rest.raw(`/apis/${apiVersion}/${plural}`, options));
  } catch (thrown) {
    // Without its message and without a cause: they may have the token.
    const why = thrown instanceof KubeStatusError ? `: ${thrown.status} ${thrown.reason}` : "";
    throw new AppError(
      hubErrors.REVIEW_FAILED,
      `the API server of the hub cannot answer the ${kind} of the request${why}; retry`,
    );
  }
}
