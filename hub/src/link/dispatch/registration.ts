/** Registration of a stream: recording its connection in the Cluster's status, a limited number at a time. */
import type { Semaphore } from "@flotilla/shared/concurrency";
import type { ClusterRef } from "../identity/cluster-identity.ts";
import type { Presence } from "../presence/presence.ts";
import type { DesiredState } from "./agent-sync.ts";
import type { DispatchMetrics } from "./metrics.ts";
import { planDispatch } from "./plan.ts";
import type { SessionEffect, SessionEvent } from "./session-state.ts";

export interface RegistrationDeps {
  readonly presence: Pick<Presence, "connected">;
  readonly metrics: Pick<DispatchMetrics, "connecting">;
}

export interface RegistrationOptions {
  readonly cluster: ClusterRef;
  readonly desired: DesiredState;
  /** Its certificate, which it connected with. */
  readonly agent: { readonly notAfter: number };
  /** Settles when the stream that this one replaces has ended: its presence is written first. */
  readonly previous: Promise<void>;
  /** Limits the registrations that are written at a time. */
  readonly registrations: Semaphore;
}

type RegisterEffect = Extract<SessionEffect, { kind: "register" }>;

type RegistrationResult =
  | { readonly kind: "registered"; readonly epoch: number; readonly orphans: readonly string[] }
  | { readonly kind: "skipped" }
  | { readonly kind: "failed"; readonly thrown: unknown };

/** Records the connection in the Cluster's status, which assigns the epoch of the stream. Never rejects. */
export async function register(
  { presence, metrics }: RegistrationDeps,
  { cluster, desired, agent, previous, registrations }: RegistrationOptions,
  { hello }: RegisterEffect,
  isStillOpen: () => boolean,
): Promise<RegistrationResult> {
  metrics.connecting.inc();
  await previous;
  await registrations.acquire();
  try {
    // An agent that disconnected while it waited causes no write.
    if (!isStillOpen()) return { kind: "skipped" };
    const known = desired.deployments();
    const { orphans } = planDispatch(hello.deployments, known);
    const epoch = await presence.connected(cluster, {
      version: hello.agentVersion,
      namespace: hello.agentNamespace,
      capabilities: hello.capabilities,
      kubernetesVersion: hello.kubernetesVersion,
      orphans,
      certificateExpiresAt: agent.notAfter,
      reportedEpoch: Math.max(0, ...known.map(({ status }) => status?.agent?.epoch ?? 0)),
    });
    return { kind: "registered", epoch, orphans };
  } catch (thrown) {
    return { kind: "failed", thrown };
  } finally {
    registrations.release();
    metrics.connecting.dec();
  }
}

/**
 * Plans in the same iteration of the event loop in which the session starts to receive changes, so that none is missed
 * between the two.
 */
export function registrationEvent(
  desired: DesiredState,
  { hello, version }: RegisterEffect,
  result: RegistrationResult,
): SessionEvent {
  switch (result.kind) {
    case "registered": {
      const { epoch, orphans: recordedOrphans } = result;
      const plan = planDispatch(hello.deployments, desired.deployments());
      return { kind: "registered", registration: { hello, version, epoch, recordedOrphans, plan } };
    }
    case "skipped":
      return { kind: "registrationSkipped" };
    case "failed":
      return { kind: "registrationFailed", thrown: result.thrown };
  }
}
