/** The certificate authorities that one agent trusts its hub by. */
import type { HubMessage } from "@flotilla/proto";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { LiveAuthority } from "../authority/live-authority.ts";

export interface TrustedAuthoritiesOptions {
  readonly authority: Pick<LiveAuthority, "trusted" | "confirmed">;
  /** The digest of what the agent has. */
  readonly agentDigest: string;
  readonly log: Log;
}

export function createTrustedAuthorities(options: TrustedAuthoritiesOptions) {
  const { authority, log } = options;
  let { agentDigest } = options;

  return {
    /** The message that is due now; `undefined` when the agent is up to date. Never rejects. */
    async next(): Promise<HubMessage | undefined> {
      if (authority.trusted.digest === agentDigest) return undefined;
      try {
        // This replica may be the stale one: an agent must not go back to an older list.
        const { pem, digest } = await authority.confirmed();
        if (digest === agentDigest) return undefined;
        agentDigest = digest;
        return { kind: "authorities", pem };
      } catch (thrown) {
        log.warn(
          { err: messageOf(thrown) },
          "cannot confirm the hub's authorities; the agent gets them when it renews its certificate",
        );
        return undefined;
      }
    },
  };
}
