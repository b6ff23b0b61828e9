/** How many requests are in progress: of each user, and on this replica. */

import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";

export const requestLimits = { ofUser: 4, ofReplica: 16 } as const;

export function createInProgress() {
  const users = new Map<string, number>();
  let total = 0;
  return {
    /** Returns the function that ends it. Throws REQUEST_LIMITED. */
    begin(username: string): () => void {
      const own = users.get(username) ?? 0;
      if (own >= requestLimits.ofUser)
        throw limited(`${username} has ${own} other requests in progress`);
      if (total >= requestLimits.ofReplica)
        throw limited(`this replica of the hub has ${total} other requests in progress`);
      users.set(username, own + 1);
      total += 1;
      return () => {
        const left = (users.get(username) ?? 1) - 1;
        if (left > 0) users.set(username, left);
        else users.delete(username);
        total -= 1;
      };
    },
  };
}

function limited(message: string): AppError {
  return new AppError(hubErrors.REQUEST_LIMITED, `${message}; retry when one of them has ended`);
}
