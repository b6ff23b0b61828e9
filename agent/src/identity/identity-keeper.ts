/**
 * Sees to it that the agent has an identity: takes the stored one, or enrols for as long as it takes, and enrols anew when
 * it is given another bootstrap Secret. Until that has worked, the identity of before stays.
 *
 * The key is stored before it is used, so that an agent that is killed while it enrols comes back with the same key and
 * becomes the same Cluster. With that key alone it can enrol again later, when its certificate has ended while the hub
 * was away, whatever has become of the token.
 */
import type { IssuedCertificate } from "@flotilla/proto/messages.ts";
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { createWaker } from "@flotilla/shared/clock/waker.ts";
import { AppError, commonErrors } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { type BackoffBounds, backoffMs } from "../link/backoff.ts";
import { linkErrors, wrongHub } from "../link/errors.ts";
import type { ConnectHub } from "../link/hub-client.ts";
import {
  type AgentIdentity,
  enrolledAs,
  type NextKey,
  renewedWith,
  type StoredIdentity,
  validityOf,
} from "./agent-identity.ts";
import { createAgentKey, createCertificateRequest } from "./agent-key.ts";
import type { Bootstrap } from "./bootstrap.ts";
import { agentIdentityErrors } from "./errors.ts";
import type { IdentityStore } from "./identity-store.ts";
import { type IdentityStep, planIdentity } from "./plan-identity.ts";

export interface IdentityKeeperDeps {
  readonly store: IdentityStore;
  readonly connectHub: ConnectHub;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

export interface IdentityKeeper {
  /** Enrols as often as that is needed, until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** An identity whose certificate has not ended, as soon as there is one. To be had while `run` goes on. */
  usable(signal: AbortSignal): Promise<AgentIdentity>;
  /** Stores a renewed certificate of `identity`, unless another one has taken its place. */
  renewed(identity: AgentIdentity, certificate: IssuedCertificate): Promise<AgentIdentity>;
  /** Hears that `usable` gives another identity than before. */
  onReplaced(listener: () => void): void;
}

const backoff: BackoffBounds = { firstMs: 1_000, longestMs: 60_000 };
/** Longer timers than this overflow. */
const longestWaitMs = 24 * 3_600_000;

export function createIdentityKeeper(deps: IdentityKeeperDeps): IdentityKeeper {
  const { store, connectHub, clock, log, random = Math.random } = deps;
  const waker = createWaker(clock);
  const waiting = new Set<() => void>();
  const listeners: (() => void)[] = [];
  let current: { readonly identity: AgentIdentity; readonly goodUntil: number } | undefined;
  let nextKey: NextKey | undefined;
  let writing: Promise<unknown> = Promise.resolve();

  async function run(signal: AbortSignal): Promise<void> {
    const watching = store.watchBootstrap(() => waker.wake(), signal);
    let failures = 0;
    let lastMessage = "";
    while (!signal.aborted) {
      let waitMs: number;
      try {
        const goodUntil = await follow(signal);
        failures = 0;
        lastMessage = "";
        waitMs = Math.min(longestWaitMs, goodUntil - clock.now());
      } catch (thrown) {
        if (isOver(signal)) break;
        failures += 1;
        const retryMs = backoffMs(backoff, failures, random());
        waitMs = retryMs;
        const { code, message } = AppError.from(thrown);
        // The same refusal again and again says nothing new.
        const level = message === lastMessage ? "debug" : "warn";
        const what = isGood()
          ? "not enrolled anew, the identity of before stays; it is tried again"
          : "agent has no identity yet, it is tried again";
        log[level]({ code, err: message, retryMs }, what);
        lastMessage = message;
      }
      await waker.wait(waitMs, signal);
    }
    await watching;
  }

  /** Makes `current` what it should be now; gives until when it is. */
  async function follow(signal: AbortSignal): Promise<number> {
    const stored = current === undefined ? await store.load(signal) : storedAs(current.identity);
    const known = stored?.enrolled;
    nextKey ??= stored?.nextKey;
    const goodUntil =
      current?.goodUntil ?? (known === undefined ? 0 : validityOf(known.chainPem).notAfter);
    try {
      const bootstrap = await store.bootstrap(signal);
      const step = planIdentity({ known, isGood: goodUntil > clock.now(), bootstrap });
      switch (step.kind) {
        case "keep":
          if (step.identity.hubAddress === known?.hubAddress) adopt(step.identity, goodUntil);
          else await inTurn(() => keep(step.identity, goodUntil));
          return goodUntil;
        case "missing":
          throw new AppError(
            agentIdentityErrors.BOOTSTRAP_MISSING,
            "there is no Secret flotilla-bootstrap in the agent's namespace to enrol with; put the content of a registration token's Secret there",
          );
        case "enroll":
          return await enroll(step, stored, bootstrap, signal);
      }
    } catch (thrown) {
      if (known !== undefined && goodUntil > clock.now()) adopt(known, goodUntil);
      throw thrown;
    }
  }

  async function enroll(
    step: Extract<IdentityStep, { kind: "enroll" }>,
    stored: StoredIdentity | undefined,
    bootstrap: Bootstrap | undefined,
    signal: AbortSignal,
  ): Promise<number> {
    const first = stored ?? { keyPem: await createAgentKey() };
    if (stored === undefined) await store.save(first);
    const { bootstrapMark } = step;
    const clientId = step.clientId ?? (await store.clusterUid(signal));
    const isAskedFor = nextKey?.bootstrapMark === bootstrapMark;
    const keyPem = isAskedFor && nextKey !== undefined ? nextKey.keyPem : first.keyPem;
    let identity: AgentIdentity;
    try {
      identity = await enrolWith(keyPem, { step, clientId, bootstrap });
    } catch (thrown) {
      const { code } = AppError.from(thrown);
      if (code !== linkErrors.KEY_REVOKED.code || isAskedFor) throw asEnrolmentFailed(thrown);
      // Beside the key of before: until the agent is enrolled with it, it stays who it is.
      const next = { keyPem: await createAgentKey(), bootstrapMark };
      await inTurn(() => store.save({ ...asStored(first), nextKey: next }));
      nextKey = next;
      log.info("the hub asks for a new key, and the agent has made one");
      return enroll(step, first, bootstrap, signal);
    }
    const { cluster, hubId } = identity;
    log.info({ cluster: `${cluster.namespace}/${cluster.name}`, hubId }, "enrolled with the hub");
    const goodUntil = endOfFresh(identity);
    await inTurn(() => keep(identity, goodUntil));
    return goodUntil;
  }

  async function enrolWith(
    keyPem: string,
    {
      step,
      clientId,
      bootstrap,
    }: {
      readonly step: Extract<IdentityStep, { kind: "enroll" }>;
      readonly clientId: string;
      readonly bootstrap: Bootstrap | undefined;
    },
  ): Promise<AgentIdentity> {
    const { address, authoritiesPem, token, bootstrapMark } = step;
    const client = connectHub({ address, authoritiesPem });
    try {
      const response = await client.enroll({
        token,
        certificateRequest: await createCertificateRequest(keyPem),
        clientId,
        labels: bootstrap?.labels ?? {},
        ...(bootstrap?.clusterName !== undefined && { clusterName: bootstrap.clusterName }),
      });
      if (step.hubId !== undefined && step.hubId !== response.hubId) {
        throw wrongHub(response.hubId, step.hubId);
      }
      return enrolledAs(response, { keyPem, hubAddress: address, clientId, bootstrapMark });
    } finally {
      client.close();
    }
  }

  /** What is stored by now: a renewal may have come in between. */
  function asStored(before: StoredIdentity): StoredIdentity {
    return current === undefined ? before : storedAs(current.identity);
  }

  /** Of a certificate that was issued just now, by this clock: the hub's may be another. */
  function endOfFresh({ chainPem }: AgentIdentity): number {
    const { notBefore, notAfter } = validityOf(chainPem);
    return clock.now() + notAfter - notBefore;
  }

  async function keep(identity: AgentIdentity, goodUntil: number): Promise<void> {
    const { keyPem } = identity;
    const later = nextKey?.keyPem === keyPem ? undefined : nextKey;
    await store.save({
      keyPem,
      enrolled: identity,
      ...(later !== undefined && { nextKey: later }),
    });
    nextKey = later;
    adopt(identity, goodUntil);
  }

  function adopt(identity: AgentIdentity, goodUntil: number): void {
    const before = current?.identity;
    const { chainPem, hubAddress } = identity;
    if (before?.chainPem === chainPem && before.hubAddress === hubAddress) return;
    current = { identity, goodUntil };
    for (const look of waiting) look();
    if (before !== undefined) for (const listener of listeners) listener();
  }

  /** One write at a time: a renewal that comes late must not undo an enrolment. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = writing.then(work);
    writing = turn.catch(() => undefined);
    return turn;
  }

  function isGood(): boolean {
    return current !== undefined && current.goodUntil > clock.now();
  }

  return {
    run,
    async usable(signal) {
      while (current === undefined || !isGood()) {
        if (isOver(signal)) {
          const message = "the agent ended before it had an identity";
          throw new AppError(commonErrors.CANCELLED, message);
        }
        await new Promise<void>((resolve) => {
          const look = (): void => {
            waiting.delete(look);
            signal.removeEventListener("abort", look);
            resolve();
          };
          waiting.add(look);
          signal.addEventListener("abort", look);
        });
      }
      return current.identity;
    },
    renewed: (identity, certificate) =>
      inTurn(async () => {
        // Another one may have taken its place while it was renewed.
        if (current?.identity !== identity) return identity;
        const next = renewedWith(identity, certificate);
        await keep(next, endOfFresh(next));
        return next;
      }),
    onReplaced(listener) {
      listeners.push(listener);
    },
  };
}

function storedAs(identity: AgentIdentity): StoredIdentity {
  return { keyPem: identity.keyPem, enrolled: identity };
}

function asEnrolmentFailed(thrown: unknown): AppError {
  const { message } = AppError.from(thrown);
  return new AppError(agentIdentityErrors.ENROLMENT_FAILED, message, { cause: thrown });
}

/** Looks again: it may have aborted while something was awaited. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}
