/** Renews the agent's certificate after two thirds of its lifetime. */

import { createBackoff } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import { type Clock, delay, formatTimeMs } from "@flotilla/shared/time";
import type { HubClient } from "../hubclient/hub-client.ts";
import { type AgentIdentity, validityOf } from "./agent-identity.ts";
import { createCertificateRequest } from "./agent-key.ts";
import type { IdentityController } from "./identity-controller.ts";

export interface RenewalDeps {
  readonly identity: IdentityController;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

const backoffLimits = { firstMs: 5_000, longestMs: 8 * 60_000 };

/**
 * Waits for the time of the renewal and renews the certificate of `current` over an open connection. Resolves then, or when
 * `signal` aborts. Never rejects: until the certificate expires it retries.
 */
export async function renewBeforeExpiry(
  deps: RenewalDeps,
  client: HubClient,
  current: AgentIdentity,
  signal: AbortSignal,
): Promise<void> {
  const { identity, clock, log, random = Math.random } = deps;
  await delay(clock, identity.renewAt - clock.now(), signal);
  const backoff = createBackoff({ ...backoffLimits, random });
  while (!signal.aborted) {
    try {
      const request = await createCertificateRequest(current.keyPem);
      const renewed = await identity.storeRenewed(current, await client.renew(request));
      log.info({ notAfter: notAfterOf(renewed) }, "certificate renewed");
      return;
    } catch (thrown) {
      if (isAborted(signal)) return;
      const retryMs = Math.round(backoff.next());
      log.warn(
        { err: messageOf(thrown), notAfter: notAfterOf(current), retryMs },
        "certificate renewal failed, retrying",
      );
      await delay(clock, retryMs, signal);
    }
  }
}

function notAfterOf({ chainPem }: AgentIdentity): string {
  return formatTimeMs(validityOf(chainPem).notAfter);
}

/** A function, because TypeScript assumes that `signal.aborted` has not changed across an await. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
