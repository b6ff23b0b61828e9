/**
 * Sees to it that the agent has an identity: takes the stored one, or enrols for as long as it takes.
 *
 * The key is stored before it is used, so that an agent that is killed while it enrols comes back with the same key and
 * becomes the same Cluster. With that key alone it can enrol again later, when its certificate has ended while the hub
 * was away, whatever has become of the token.
 */
import type { IssuedCertificate } from "@flotilla/proto/messages.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { delay } from "@flotilla/shared/clock/delay.ts";
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { type BackoffBounds, backoffMs } from "../link/backoff.ts";
import type { ConnectHub } from "../link/hub-client.ts";
import { type AgentIdentity, enrolledAs, renewedWith, validityOf } from "./agent-identity.ts";
import { createAgentKey, createCertificateRequest } from "./agent-key.ts";
import { agentIdentityErrors } from "./errors.ts";
import type { IdentityStore } from "./identity-store.ts";

export interface IdentityKeeperDeps {
  readonly store: IdentityStore;
  readonly connectHub: ConnectHub;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

export interface IdentityKeeper {
  /** An identity whose certificate has not ended. Enrols where there is none, and tries until `signal` aborts. */
  usable(signal: AbortSignal): Promise<AgentIdentity>;
  /** Stores a renewed certificate, which `usable` gives from then on. */
  renewed(certificate: IssuedCertificate): Promise<AgentIdentity>;
}

const backoff: BackoffBounds = { firstMs: 1_000, longestMs: 60_000 };

export function createIdentityKeeper(deps: IdentityKeeperDeps): IdentityKeeper {
  const { store, connectHub, clock, log, random = Math.random } = deps;
  let current: AgentIdentity | undefined;

  async function usable(signal: AbortSignal): Promise<AgentIdentity> {
    let lastMessage = "";
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        if (current !== undefined && isGood(current)) return current;
        current = await obtain(signal);
        return current;
      } catch (thrown) {
        const retryMs = backoffMs(backoff, failures, random());
        const { code, message } = AppError.from(thrown);
        // The same refusal again and again says nothing new.
        const level = message === lastMessage ? "debug" : "warn";
        log[level]({ code, err: message, retryMs }, "agent has no identity yet, it is tried again");
        lastMessage = message;
        await delay(clock, retryMs, signal);
      }
    }
    throw new AppError(commonErrors.CANCELLED, "the agent ended before it had an identity");
  }

  async function obtain(signal: AbortSignal): Promise<AgentIdentity> {
    const stored = await store.load(signal);
    const bootstrap = await store.bootstrap(signal);
    const known = stored?.enrolled;
    if (known !== undefined && isGood(known)) {
      // A hub that moved is found at the address that the agent was given last; it is still checked to be the same hub.
      return { ...known, hubAddress: bootstrap?.address ?? known.hubAddress };
    }
    const address = bootstrap?.address ?? known?.hubAddress;
    // A hub that was trusted once is trusted by its own authorities; a first one by what the agent was given.
    const authoritiesPem = known?.authoritiesPem ?? bootstrap?.authoritiesPem;
    if (address === undefined || authoritiesPem === undefined) {
      throw new AppError(
        agentIdentityErrors.BOOTSTRAP_MISSING,
        "there is no Secret flotilla-bootstrap in the agent's namespace to enrol with; put the content of a registration token's Secret there",
      );
    }
    const keyPem = stored?.keyPem ?? (await createAgentKey());
    if (stored === undefined) await store.save({ keyPem });
    const clientId = known?.clientId ?? bootstrap?.clientId ?? (await store.clusterUid(signal));
    const identity = await enroll({ address, authoritiesPem, keyPem, clientId, bootstrap });
    await store.save({ keyPem, enrolled: identity });
    const { cluster, hubId } = identity;
    log.info({ cluster: `${cluster.namespace}/${cluster.name}`, hubId }, "enrolled with the hub");
    return identity;
  }

  async function enroll(what: {
    readonly address: string;
    readonly authoritiesPem: string;
    readonly keyPem: string;
    readonly clientId: string;
    readonly bootstrap: Awaited<ReturnType<IdentityStore["bootstrap"]>>;
  }): Promise<AgentIdentity> {
    const { address, authoritiesPem, keyPem, clientId, bootstrap } = what;
    const client = connectHub({ address, authoritiesPem });
    try {
      const response = await client.enroll({
        token: bootstrap?.token ?? "",
        certificateRequest: await createCertificateRequest(keyPem),
        clientId,
        labels: bootstrap?.labels ?? {},
        ...(bootstrap?.clusterName !== undefined && { clusterName: bootstrap.clusterName }),
      });
      return enrolledAs(response, { keyPem, hubAddress: address, clientId });
    } catch (thrown) {
      const { message } = AppError.from(thrown);
      throw new AppError(agentIdentityErrors.ENROLMENT_FAILED, message, { cause: thrown });
    } finally {
      client.close();
    }
  }

  function isGood(identity: AgentIdentity): boolean {
    return validityOf(identity.chainPem).notAfter > clock.now();
  }

  return {
    usable,
    async renewed(certificate) {
      if (current === undefined) {
        throw new AppError(commonErrors.INTERNAL, "a certificate was renewed before there was one");
      }
      const identity = renewedWith(current, certificate);
      await store.save({ keyPem: identity.keyPem, enrolled: identity });
      current = identity;
      return identity;
    },
  };
}
