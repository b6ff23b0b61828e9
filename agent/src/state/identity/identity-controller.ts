/**
 * Gives the agent an identity: uses the stored one, or enrols until the hub accepts it, and enrols again when the bootstrap
 * Secret changes. The previous identity stays in use until then. This file has the effects; the rules are in identity-step.ts.
 */
import type { IssuedCertificate } from "@flotilla/proto";
import { backoffDelayMs, withJitter } from "@flotilla/shared/concurrency";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { createRepeatFilter, type Log } from "@flotilla/shared/log";
import type { Timer } from "@flotilla/shared/time";
import type { AgentIdentity } from "./agent-identity.ts";
import { type IdentityEffectsDeps, logChange, perform, timesAt } from "./identity-effects.ts";
import {
  type IdentityEffect,
  type IdentityEvent,
  initialState,
  phaseOf,
} from "./identity-state.ts";
import { step } from "./identity-step.ts";

export interface IdentityControllerDeps extends IdentityEffectsDeps {
  readonly log: Log;
  readonly random?: () => number;
}

export interface IdentityController {
  /** Enrols as often as needed, until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves with an identity whose certificate has not expired. Needs `run`. Throws CANCELLED when `signal` aborts. */
  waitForIdentity(signal: AbortSignal): Promise<AgentIdentity>;
  /** When the current certificate is to be renewed, ms since 1970. */
  readonly renewAt: number;
  /** Why there is no valid identity; "" while there is one, and before the first failure. */
  readonly lastError: string;
  /** Stores a renewed certificate of `identity`; ignores it when another identity has replaced that one. */
  storeRenewed(identity: AgentIdentity, certificate: IssuedCertificate): Promise<AgentIdentity>;
  /** The hub reports that the certificate of `identity` has expired, even if it has not by this cluster's clock. */
  reportExpired(identity: AgentIdentity): void;
  /**
   * The hub does not accept the certificate of `identity`, without a reason. It stays in use while another one is requested
   * with the agent's key.
   */
  reportUnauthenticated(identity: AgentIdentity): void;
  /**
   * Replaces the authorities that the hub is verified with, unless the current identity is of another hub. They are used
   * even if they cannot be stored now. Never rejects.
   */
  setAuthorities(identity: AgentIdentity, authoritiesPem: string): Promise<void>;
  /** Called when `waitForIdentity` resolves with another identity than before. */
  onChange(listener: () => void): void;
}

/** With jitter at most one minute. */
const backoffLimits = { firstMs: 800, longestMs: 48_000 };
/** A longer timer overflows. */
const longestWaitMs = 24 * 3_600_000;

const retryMessages = {
  unregistered: "agent has no valid identity, retrying",
  "not-stored": "identity is in use but not stored, retrying",
  "not-enrolled": "could not enrol again, the previous identity stays in use; retrying",
} as const;

type Settled = Extract<IdentityEffect, { kind: "settle" }>;

export function createIdentityController(deps: IdentityControllerDeps): IdentityController {
  const { store, clock, log, random = Math.random } = deps;
  const listeners: (() => void)[] = [];
  const waiters = new Set<() => void>();
  const calls = createCalls();
  const stopped = Promise.withResolvers<void>();
  const repeats = createRepeatFilter(clock);
  let state = initialState;
  let timer: Timer | undefined;
  let running: AbortSignal | undefined;

  function dispatch(event: IdentityEvent): void {
    const transition = step(state, event, clock.now());
    state = transition.state;
    for (const effect of transition.effects) apply(effect);
    if (running?.aborted === true && state.activity.kind === "idle") stop();
  }

  function apply(effect: IdentityEffect): void {
    switch (effect.kind) {
      case "load":
      case "read-bootstrap":
        timer?.cancel();
        void perform(effect, deps, running).then(dispatch);
        return;
      case "create-key":
      case "enroll":
      case "save":
        void perform(effect, deps, running).then(dispatch);
        return;
      case "publish":
        for (const wake of waiters) wake();
        if (effect.isReplacement) for (const listener of listeners) listener();
        return;
      case "wait":
        repeats.reset();
        wakeAfter(Math.min(longestWaitMs, effect.untilMs - clock.now()));
        return;
      case "retry":
        retry(effect);
        return;
      case "settle":
        calls.settle(effect);
        return;
      case "log":
        logChange(log, effect);
        return;
    }
  }

  function retry({ error, failures, what }: Extract<IdentityEffect, { kind: "retry" }>): void {
    if (running?.aborted === true) return;
    const { code, message } = error;
    const retryMs = Math.round(withJitter(backoffDelayMs(backoffLimits, failures), random()));
    const level = repeats.isNew(message) ? "warn" : "debug";
    log[level]({ code, err: message, retryMs }, retryMessages[what]);
    wakeAfter(retryMs);
  }

  function wakeAfter(delayMs: number): void {
    timer?.cancel();
    timer = clock.setTimeout(() => dispatch({ kind: "wake" }), Math.max(0, delayMs));
  }

  function stop(): void {
    timer?.cancel();
    stopped.resolve();
  }

  return {
    async run(signal) {
      running = signal;
      const watching = store.watchBootstrap(() => dispatch({ kind: "wake" }), signal);
      dispatch({ kind: "wake" });
      const onAbort = (): void => {
        if (state.activity.kind === "idle") stop();
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      await Promise.all([stopped.promise, watching]);
    },
    get renewAt() {
      return state.current?.renewAt ?? 0;
    },
    get lastError() {
      const phase = phaseOf(state, clock.now());
      return phase === "unregistered" || phase === "expired" ? state.lastError : "";
    },
    async waitForIdentity(signal) {
      for (;;) {
        if (state.current !== undefined && state.current.expiresAt > clock.now())
          return state.current.identity;
        if (signal.aborted) throw stoppedBeforeIdentity();
        await waitForWake(waiters, signal);
      }
    },
    async storeRenewed(identity, certificate) {
      const renewed = { ...identity, ...certificate };
      const times = timesAt(renewed, "now", clock.now());
      const { call, settled: result } = calls.begin();
      dispatch({ kind: "renewed", call, of: identity, certificate, times });
      const settled = await result;
      if (settled.error !== undefined) throw settled.error;
      return settled.identity ?? identity;
    },
    reportExpired: (identity) => dispatch({ kind: "expired", identity }),
    reportUnauthenticated: (identity) => dispatch({ kind: "unauthenticated", identity }),
    async setAuthorities({ hubId }, authoritiesPem) {
      const { call, settled } = calls.begin();
      dispatch({ kind: "authorities", call, hubId, authoritiesPem });
      await settled;
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

function stoppedBeforeIdentity(): AppError {
  return new AppError(commonErrors.CANCELLED, "the agent stopped before it had an identity");
}

/** The callers that wait for the result of an event. */
function createCalls() {
  const waiting = new Map<number, (settled: Settled) => void>();
  let last = 0;
  return {
    begin(): { readonly call: number; readonly settled: Promise<Settled> } {
      last += 1;
      const { promise, resolve } = Promise.withResolvers<Settled>();
      waiting.set(last, resolve);
      return { call: last, settled: promise };
    },
    settle(effect: Settled): void {
      waiting.get(effect.call)?.(effect);
      waiting.delete(effect.call);
    },
  };
}

function waitForWake(waiters: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      waiters.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    waiters.add(wake);
    signal.addEventListener("abort", wake);
  });
}
