/** What one agent trusts its hub by, and whether it is to be told something else. */
import type { HubMessage } from "@flotilla/proto/messages.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { LiveAuthority } from "../authority/live-authority.ts";

export interface AuthorityBookOptions {
  readonly authority: Pick<LiveAuthority, "trusted" | "confirmed">;
  /** The digest of what the agent has. */
  readonly held: string;
  readonly log: Log;
}

export interface AuthorityBook {
  /** What to tell the agent now; `undefined` when it has the right ones. Never rejects. */
  next(): Promise<HubMessage | undefined>;
}

export function createAuthorityBook(options: AuthorityBookOptions): AuthorityBook {
  const { authority, log } = options;
  let { held } = options;

  return {
    async next() {
      if (authority.trusted.digest === held) return undefined;
      try {
        // One of the two is behind, and it may be this replica: an agent must not be taken back to an older list.
        const { pem, digest } = await authority.confirmed();
        if (digest === held) return undefined;
        held = digest;
        return { kind: "authorities", pem };
      } catch (thrown) {
        // With its next certificate the agent gets them as well.
        log.warn({ err: messageOf(thrown) }, "agent was not told the hub's authorities");
        return undefined;
      }
    },
  };
}
