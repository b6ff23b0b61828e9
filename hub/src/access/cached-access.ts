/** Answers of the API server about tokens and rights, cached briefly: a page needs the same ones again and again. */
import { createHash } from "node:crypto";
import { createFreshCache } from "@flotilla/shared/cache";
import { createSemaphore } from "@flotilla/shared/concurrency";
import type { Clock } from "@flotilla/shared/time";
import { type Attributes, type Reviewer, reviewAccess, reviewToken, type User } from "./reviews.ts";

export interface Access {
  /** Whose token of the API server it is; undefined if it is not accepted. Throws REVIEW_FAILED. */
  userOf(token: string): Promise<User | undefined>;
  /** Throws REVIEW_FAILED. */
  may(user: User, attributes: Attributes): Promise<boolean>;
}

/** How long requests are still accepted with a right that was withdrawn, or a token that was revoked. */
export const accessFreshMs = 15_000;
const maxTokens = 2_000;
const maxAnswers = 50_000;
/** Reviews in progress. */
const maxReviews = 16;

export function createAccess(rest: Reviewer, clock: Clock): Access {
  const reviews = createSemaphore(maxReviews);
  const users = createFreshCache<User | undefined>({
    maxEntries: maxTokens,
    freshMs: accessFreshMs,
    clock,
  });
  const answers = createFreshCache<boolean>({
    maxEntries: maxAnswers,
    freshMs: accessFreshMs,
    clock,
  });
  return {
    userOf: (token) =>
      users.get(digestOf(token), () => reviews.run(() => reviewToken(rest, token))),
    may: (user, attributes) =>
      answers.get(`${digestOf(JSON.stringify(user))} ${JSON.stringify(attributes)}`, () =>
        reviews.run(() => reviewAccess(rest, user, attributes)),
      ),
  };
}

/** Names a user or a token: so that no token is in memory longer than its request. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
