/** What a user requests of the deployments of a Bundle, as they get it. Pure. */
import type { Bundle, BundleDeployment } from "@flotilla/shared/api";
import { requestOf, requestTokens, tokensOf } from "@flotilla/shared/api/names";

export type RequestFields = Partial<
  Pick<BundleDeployment["spec"], "requestedAt" | "forceAt" | "resetAt" | "correctDriftAt">
>;

/** The last request of a user; what else is requested only as part of it. */
export function requestedOf({ metadata }: Bundle): RequestFields {
  const { requestedAt, forceAt, resetAt, correctDriftAt } = requestTokens(metadata);
  const request = requestOf({
    requestedAt: printable(requestedAt),
    forceAt: printable(forceAt),
    resetAt: printable(resetAt),
    correctDriftAt: printable(correctDriftAt),
  });
  return request === undefined ? {} : tokensOf(request);
}

/** Users may write anything into a request, and agents accept printable tokens only. */
function printable(token: string | undefined): string | undefined {
  return token?.slice(0, longestToken).replace(/[^\x20-\x7e]/g, "?");
}

/** The limit of a request in a BundleDeployment. */
const longestToken = 256;
