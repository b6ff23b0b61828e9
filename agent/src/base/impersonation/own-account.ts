/**
 * The account that the agent itself authenticates with. No deployment may impersonate it: it would have all rights of the
 * agent, while a Policy that requires a service account says that it has a tenant's.
 */
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type SelfSubjectReview, selfSubjectReviews } from "@flotilla/shared/kube/objects";

/** The user name of the agent as the API server knows it. Asked once; a failure is thrown, and asked again the next time. */
export function createOwnUser(rest: Pick<KubeRest, "create">): () => Promise<string | undefined> {
  let known: Promise<string | undefined> | undefined;
  return function ownUser() {
    known ??= readOwnUser(rest).catch((thrown: unknown) => {
      known = undefined;
      throw thrown;
    });
    return known;
  };
}

async function readOwnUser(rest: Pick<KubeRest, "create">): Promise<string | undefined> {
  // It is not stored; only our client wants a name.
  const review: SelfSubjectReview = { metadata: { name: "self" } };
  return (await rest.create(selfSubjectReviews, review)).status?.userInfo?.username;
}
