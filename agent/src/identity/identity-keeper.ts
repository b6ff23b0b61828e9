/**
 * Sees to it that the agent has an identity: takes the stored one, or enrols for as long as it takes, and enrols anew when
 * it is given another bootstrap Secret. Until that has worked, the identity of before stays.
 *
 * The key is stored before it is used, so that an agent that is killed while it enrols comes back with the same key and
 * becomes the same Cluster. With that key alone it can enrol again later, when its certificate has ended while the hub
 * was away, whatever has become of the token.
 */
import type { IssuedCertificate } from "@flotilla/proto/messages.ts";
import { createWaker } from "@flotilla/shared/concurrency/waker.ts";
import { AppError, commonErrors, messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { createRepeatFilter } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { type BackoffBounds, backoffMs } from "../link/backoff.ts";
import { linkErrors, wrongHub } from "../link/errors.ts";
import type { ConnectHub } from "../link/hub-client.ts";
import {
  type AgentIdentity,
  type CertificateTimes,
  enrolledAs,
  type NextKey,
  renewedWith,
  type StoredIdentity,
  timesOf,
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
  /** When the certificate of the present identity is to be renewed, ms since 1970. */
  readonly renewAt: number;
  /** Why there is no usable identity; "" while there is one, and where nothing has gone wrong yet. */
  readonly trouble: string;
  /** Stores a renewed certificate of `identity`, unless another one has taken its place. */
  renewed(identity: AgentIdentity, certificate: IssuedCertificate): Promise<AgentIdentity>;
  /** The hub said that the certificate of `identity` has ended, whatever the time is here. */
  ended(identity: AgentIdentity): void;
  /**
   * The hub took the certificate of `identity` for none, and does not say why. It stays in use, and beside that another one
   * is asked for with the agent's key.
   */
  doubted(identity: AgentIdentity): void;
  /**
   * The hub is to be trusted by these from now on, unless `identity` is of another hub than the present one. What cannot be
   * stored at once holds nevertheless, and is stored later. Never rejects.
   */
  trust(identity: AgentIdentity, authoritiesPem: string): Promise<void>;
  /** Hears that `usable` gives another identity than before. */
  onReplaced(listener: () => void): void;
}

const backoff: BackoffBounds = { firstMs: 1_000, longestMs: 60_000 };
const never: CertificateTimes = { renewAt: 0, goodUntil: 0 };
/** Longer timers than this overflow. */
const longestWaitMs = 24 * 3_600_000;

interface Current extends CertificateTimes {
  readonly identity: AgentIdentity;
  readonly isDoubted?: boolean;
}

export function createIdentityKeeper(deps: IdentityKeeperDeps): IdentityKeeper {
  const { store, connectHub, clock, log, random = Math.random } = deps;
  const waker = createWaker(clock);
  const waiting = new Set<() => void>();
  const listeners: (() => void)[] = [];
  let current: Current | undefined;
  /** Whether `current` is not yet in the Secret. */
  let isUnsaved = false;
  let nextKey: NextKey | undefined;
  let trouble = "";
  let writing: Promise<unknown> = Promise.resolve();

  async function run(signal: AbortSignal): Promise<void> {
    const watching = store.watchBootstrap(() => waker.wake(), signal);
    let failures = 0;
    const repeats = createRepeatFilter(clock);
    while (!signal.aborted) {
      let waitMs: number;
      try {
        const goodUntil = await follow(signal);
        failures = 0;
        repeats.reset();
        trouble = "";
        waitMs = Math.min(longestWaitMs, goodUntil - clock.now());
      } catch (thrown) {
        if (isOver(signal)) break;
        failures += 1;
        const retryMs = backoffMs(backoff, failures, random());
        waitMs = retryMs;
        const { code, message } = AppError.from(thrown);
        const level = repeats.isNew(message) ? "warn" : "debug";
        trouble = message;
        log[level]({ code, err: message, retryMs }, whatFailed());
      }
      await waker.wait(waitMs, signal);
    }
    await watching;
  }

  function whatFailed(): string {
    if (!isGood()) return "agent has no identity yet, it is tried again";
    return isUnsaved
      ? "where the hub is and what it is trusted by is used but not stored, it is tried again"
      : "not enrolled anew, the identity of before stays; it is tried again";
  }

  /** Makes `current` what it should be now; gives until when it is. */
  async function follow(signal: AbortSignal): Promise<number> {
    const stored = current === undefined ? await store.load(signal) : storedAs(current.identity);
    const known = stored?.enrolled;
    nextKey ??= stored?.nextKey;
    const times = current ?? (known === undefined ? never : timesAt(known, "before"));
    const { goodUntil } = times;
    try {
      const bootstrap = await store.bootstrap(signal);
      const isStillGood = goodUntil > clock.now() && current?.isDoubted !== true;
      const step = planIdentity({ known, isGood: isStillGood, bootstrap });
      switch (step.kind) {
        case "keep":
          if (known !== undefined) adoptFirst(known, times);
          await inTurn(() => moveTo(step.hubAddress));
          return current?.goodUntil ?? goodUntil;
        case "missing":
          throw new AppError(
            agentIdentityErrors.BOOTSTRAP_MISSING,
            "there is no Secret flotilla-bootstrap in the agent's namespace to enrol with; put the content of a registration token's Secret there",
          );
        case "enroll":
          return await enroll(step, stored, bootstrap, signal);
      }
    } catch (thrown) {
      if (known !== undefined && goodUntil > clock.now()) adoptFirst(known, times);
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
    const times = timesAt(identity, "now");
    await inTurn(() => keep(identity, times));
    return times.goodUntil;
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

  function timesAt({ chainPem }: AgentIdentity, issued: "now" | "before"): CertificateTimes {
    return timesOf(validityOf(chainPem), issued, clock.now());
  }

  async function keep(identity: AgentIdentity, times: CertificateTimes): Promise<void> {
    await save(identity);
    adopt(identity, times);
  }

  async function save(identity: AgentIdentity): Promise<void> {
    const { keyPem } = identity;
    const later = nextKey?.keyPem === keyPem ? undefined : nextKey;
    await store.save({
      ...storedAs(identity),
      ...(later !== undefined && { nextKey: later }),
    });
    nextKey = later;
    isUnsaved = false;
  }

  /** Goes where the hub is now, whether that can be stored at once or not. */
  async function moveTo(hubAddress: string): Promise<void> {
    if (current === undefined) return;
    const identity = { ...current.identity, hubAddress };
    if (current.identity.hubAddress !== hubAddress) {
      adopt(identity, current);
      isUnsaved = true;
    }
    if (isUnsaved) await save(identity);
  }

  function adopt(identity: AgentIdentity, { renewAt, goodUntil }: CertificateTimes): void {
    const before = current?.identity;
    const { chainPem, hubAddress } = identity;
    if (before?.chainPem === chainPem && before.hubAddress === hubAddress) return;
    current = { identity, renewAt, goodUntil };
    for (const look of waiting) look();
    if (before !== undefined) for (const listener of listeners) listener();
  }

  /** What was stored, after a start: by now a renewal may have taken its place. */
  function adoptFirst(identity: AgentIdentity, times: CertificateTimes): void {
    if (current === undefined) adopt(identity, times);
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
    get renewAt() {
      return current?.renewAt ?? 0;
    },
    get trouble() {
      return isGood() ? "" : trouble;
    },
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
        if (current?.identity.chainPem !== identity.chainPem) return identity;
        const next = renewedWith(current.identity, certificate);
        await keep(next, timesAt(next, "now"));
        return next;
      }),
    ended(identity) {
      if (current?.identity.chainPem !== identity.chainPem) return;
      current = { ...current, goodUntil: 0 };
      waker.wake();
    },
    doubted(identity) {
      if (current?.identity.chainPem !== identity.chainPem || current.isDoubted === true) return;
      current = { ...current, isDoubted: true };
      waker.wake();
    },
    trust: ({ hubId }, authoritiesPem) =>
      inTurn(async () => {
        if (current?.identity.hubId !== hubId) return;
        if (current.identity.authoritiesPem === authoritiesPem) return;
        const identity = { ...current.identity, authoritiesPem };
        current = { ...current, identity };
        try {
          await save(identity);
          log.info("the hub is trusted by other authorities from now on");
        } catch (thrown) {
          log.debug({ err: messageOf(thrown) }, "what the hub is trusted by is stored later");
          isUnsaved = true;
          waker.wake();
        }
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
