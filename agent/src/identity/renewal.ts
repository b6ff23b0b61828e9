/** Renews the agent's certificate at two thirds of its life, over and over, until it is stopped. */

import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { delay } from "@flotilla/shared/time/clock.ts";
import { type BackoffBounds, backoffMs } from "../link/backoff.ts";
import type { HubClient } from "../link/hub-client.ts";
import { type AgentIdentity, validityOf } from "./agent-identity.ts";
import { createCertificateRequest } from "./agent-key.ts";
import type { IdentityKeeper } from "./identity-keeper.ts";

export interface RenewalDeps {
  readonly keeper: IdentityKeeper;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

const backoff: BackoffBounds = { firstMs: 5_000, longestMs: 10 * 60_000 };

/**
 * Waits for the time and renews over a connection that stands; the keeper tells who has to hear of it. Resolves then, or
 * when `signal` aborts. Never rejects: until the certificate ends there are many more tries.
 */
export async function renewInTime(
  deps: RenewalDeps,
  client: HubClient,
  identity: AgentIdentity,
  signal: AbortSignal,
): Promise<void> {
  const { keeper, clock, log, random = Math.random } = deps;
  await delay(clock, keeper.renewAt - clock.now(), signal);
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      const request = await createCertificateRequest(identity.keyPem);
      const renewed = await keeper.renewed(identity, await client.renew(request));
      log.info({ notAfter: endOf(renewed) }, "certificate renewed");
      return;
    } catch (thrown) {
      if (isAborted(signal)) return;
      const retryMs = backoffMs(backoff, failures, random());
      log.warn(
        { err: messageOf(thrown), notAfter: endOf(identity), retryMs },
        "certificate was not renewed, it is tried again",
      );
      await delay(clock, retryMs, signal);
    }
  }
}

function endOf(identity: AgentIdentity): string {
  return new Date(validityOf(identity.chainPem).notAfter).toISOString();
}

/** Looks again: it may have aborted while something was awaited. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
