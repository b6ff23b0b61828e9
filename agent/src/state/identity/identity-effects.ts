/** Performs the effects of the identity's state machine that take time; each one ends in an event. */

import { AppError, messageOf, unreachable } from "@flotilla/shared/errors";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { wrongHub } from "../../base/index.ts";
import type { ConnectHub } from "../hubclient/hub-client.ts";
import {
  type AgentIdentity,
  type CertificateTimes,
  certificateTimes,
  fromEnrollResponse,
  validityOf,
} from "./agent-identity.ts";
import { createAgentKey, createCertificateRequest } from "./agent-key.ts";
import type { Credential, IdentityEffect, IdentityEvent } from "./identity-state.ts";
import type { IdentityStore } from "./identity-store.ts";

export interface IdentityEffectsDeps {
  readonly store: IdentityStore;
  readonly connectHub: ConnectHub;
  readonly clock: Clock;
}

type AsyncEffect = Extract<
  IdentityEffect,
  { kind: "load" | "read-bootstrap" | "create-key" | "enroll" | "save" }
>;

/** Never rejects: an error is an event as well. */
export async function perform(
  effect: AsyncEffect,
  deps: IdentityEffectsDeps,
  signal: AbortSignal | undefined,
): Promise<IdentityEvent> {
  try {
    return await attempt(effect, deps, signal);
  } catch (thrown) {
    const kind = effect.kind === "save" ? "write-failed" : "failed";
    return { kind, error: AppError.from(thrown) };
  }
}

async function attempt(
  effect: AsyncEffect,
  deps: IdentityEffectsDeps,
  signal: AbortSignal | undefined,
): Promise<IdentityEvent> {
  const { store, clock } = deps;
  switch (effect.kind) {
    case "load": {
      const stored = await store.load(signal);
      const identity = stored?.enrolled;
      const credential = identity && toCredential(identity, "before", clock.now());
      return { kind: "loaded", stored, credential };
    }
    case "read-bootstrap":
      return { kind: "bootstrap-read", bootstrap: await store.bootstrap(signal) };
    case "create-key":
      return { kind: "key-created", keyPem: await createAgentKey() };
    case "enroll":
      return await enroll(deps, effect, signal);
    case "save":
      await store.save(effect.stored);
      return { kind: "written" };
    default:
      return unreachable(effect);
  }
}

/** Calls Enroll. Throws WRONG_HUB when another hub answers than the one that is expected. */
async function enroll(
  { store, connectHub, clock }: IdentityEffectsDeps,
  { keyPem, enrolment: { plan, bootstrap } }: Extract<IdentityEffect, { kind: "enroll" }>,
  signal: AbortSignal | undefined,
): Promise<IdentityEvent> {
  const { address, authoritiesPem, token, hubId, bootstrapDigest } = plan;
  const clientId = plan.clientId ?? (await store.clusterUid(signal));
  const client = connectHub({ address, authoritiesPem });
  try {
    const response = await client.enroll({
      token,
      certificateRequest: await createCertificateRequest(keyPem),
      clientId,
      labels: bootstrap?.labels ?? {},
      ...(bootstrap?.clusterName !== undefined && { clusterName: bootstrap.clusterName }),
    });
    if (hubId !== undefined && hubId !== response.hubId) throw wrongHub(response.hubId, hubId);
    const own = { keyPem, hubAddress: address, clientId, bootstrapDigest };
    const identity = fromEnrollResponse(response, own);
    return { kind: "enrolled", credential: toCredential(identity, "now", clock.now()) };
  } finally {
    client.close();
  }
}

function toCredential(identity: AgentIdentity, issued: "now" | "before", now: number): Credential {
  return { identity, ...timesAt(identity, issued, now), isRejected: false };
}

/** Throws IDENTITY_INVALID. */
export function timesAt(
  { chainPem }: Pick<AgentIdentity, "chainPem">,
  issued: "now" | "before",
  now: number,
): CertificateTimes {
  return certificateTimes(validityOf(chainPem), issued, now);
}

export function logChange(log: Log, effect: Extract<IdentityEffect, { kind: "log" }>): void {
  switch (effect.what) {
    case "enrolled": {
      const { cluster, hubId } = effect.identity;
      log.info({ cluster: `${cluster.namespace}/${cluster.name}`, hubId }, "enrolled with the hub");
      return;
    }
    case "key-replaced":
      log.info("hub asked for a new key, created one");
      return;
    case "authorities-replaced":
      log.info("hub's certificate authorities replaced");
      return;
    case "authorities-not-stored":
      log.debug(
        { err: messageOf(effect.error) },
        "hub's certificate authorities not stored, retrying",
      );
  }
}
