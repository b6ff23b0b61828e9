/**
 * Answers of the API server about tokens and rights, cached briefly: a page needs the same ones again and again. All reviews are
 * requests of the hub's own user, so they are few at a time, and fair between users: one who may see nothing causes the most.
 */
import { createHash } from "node:crypto";
import { createFreshCache } from "@flotilla/shared/cache";
import {
  createFairSemaphore,
  createKeyedRateLimiter,
  createSemaphore,
} from "@flotilla/shared/concurrency";
import type { Clock } from "@flotilla/shared/time";
import { type Attributes, type Reviewer, reviewAccess, reviewToken, type User } from "./reviews.ts";

export interface Access {
  /** Whose token of the API server it is; undefined if it is not accepted. Throws REVIEW_FAILED. */
  userOf(token: string): Promise<User | undefined>;
  /** Throws REVIEW_FAILED. */
  may(user: User, attributes: Attributes): Promise<boolean>;
  /**
   * The same for one of many questions that a page has. Undefined: it is not asked now, because this user has caused too many
   * reviews; asking again later helps. Throws REVIEW_FAILED.
   */
  mayIfAsked(user: User, attributes: Attributes): Promise<boolean | undefined>;
}

/** How long requests are still accepted with a right that was withdrawn, or a token that was revoked. */
export const accessFreshMs = 15_000;
/** How long it takes until a right that was granted is seen: who has few rights needs many answers. */
const deniedFreshMs = 60_000;
const maxTokens = 2_000;
const maxAnswers = 50_000;
/** Reviews of tokens in progress, which have places of their own: a login must not wait behind reviews of rights. */
const maxTokenReviews = 8;
/** Reviews of rights in progress, of all users and of one. */
const reviewPlaces = { capacity: 16, share: 4 };
/** The reviews for one user that `mayIfAsked` causes: a page of a thousand namespaces at once, then all of them again in a minute. */
const reviewRate = { burst: 2_000, perSecond: 100 };

export function createAccess(rest: Reviewer, clock: Clock): Access {
  const tokens = createSemaphore(maxTokenReviews);
  const reviews = createFairSemaphore(reviewPlaces);
  const rates = createKeyedRateLimiter({ clock, ...reviewRate });
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
  const optional = createFreshCache<boolean>({
    maxEntries: maxAnswers,
    freshMs: (isAllowed) => (isAllowed ? accessFreshMs : deniedFreshMs),
    clock,
  });

  function review(caller: string, user: User, attributes: Attributes): Promise<boolean> {
    return reviews.run({ caller }, () => reviewAccess(rest, user, attributes));
  }

  return {
    userOf: (token) => users.get(digestOf(token), () => tokens.run(() => reviewToken(rest, token))),
    may(user, attributes) {
      return answers.get(`${keyOfUser(user)} ${JSON.stringify(attributes)}`, () =>
        review(callerOf(user), user, attributes),
      );
    },
    async mayIfAsked(user, attributes) {
      const caller = callerOf(user);
      const key = `${keyOfUser(user)} ${JSON.stringify(attributes)}`;
      if (!optional.has(key) && !rates.take(caller)) return undefined;
      return await optional.get(key, () => review(caller, user, attributes));
    },
  };
}

/** Equal for users with equal rights: groups and extra fields decide, too, but for the id of a token. */
export function keyOfUser({ extra, ...user }: User): string {
  const { [credentialId]: _, ...others } = extra;
  return digestOf(JSON.stringify([user, others]));
}

/** Another one for each token of a ServiceAccount. */
const credentialId = "authentication.kubernetes.io/credential-id";

/** Identifies the user, whatever the token: what a user may do at once is for all of them. */
export function callerOf({ username, uid }: User): string {
  return digestOf(JSON.stringify([username, uid]));
}

/** Names a user or a token: so that no token is in memory longer than its request. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
