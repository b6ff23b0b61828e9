/** The HTTP route of requests of users with a token for the hub: who asks, and whether they may. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { tokenHeader } from "@flotilla/shared/api/names";
import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { clientAddress } from "../../events/index.ts";
import { authenticate, authorize } from "./access.ts";
import { parseUserRequest } from "./parse-request.ts";
import type { UserRequests } from "./user-requests.ts";

export interface RequestRouteDeps {
  readonly rest: Pick<KubeRest, "raw">;
  readonly requests: Pick<UserRequests, "answer">;
  /** The header with the address of the client, which an ingress sets; absent: the address of the connection counts. */
  readonly addressHeader?: string | undefined;
  /** The reason why requests are rejected now. */
  readonly notReady: () => string | undefined;
  readonly clock: Clock;
}

/** The calls that one address may make, also without a valid token. The API server has one address for all whose requests it passes on. */
const rate = { perSecond: 20, burst: 100 };

/** Answers every request below `/requests/`. */
export function requestRoute({ rest, requests, addressHeader, notReady, clock }: RequestRouteDeps) {
  const rates = createKeyedRateLimiter({ clock, ...rate });
  return (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    requests.answer(response, async (signal) => {
      if (request.method !== "GET")
        throw new AppError(hubErrors.REQUEST_INVALID, "only GET is allowed");
      const asked = parseUserRequest(request.url ?? "/");
      if (notReady() !== undefined)
        throw new AppError(hubErrors.AGENT_OFFLINE, "this replica of the hub is not ready; retry");
      if (!rates.take(clientAddress(request, addressHeader)))
        throw new AppError(hubErrors.REQUEST_LIMITED, "too many requests; retry in a second");
      const header = request.headers[tokenHeader];
      const user = await authenticate(rest, typeof header === "string" ? header : "", signal);
      await authorize(rest, user, asked, signal);
      return { username: user.username, asked };
    });
}
