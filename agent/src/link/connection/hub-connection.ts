/** Keeps the agent connected to its hub: connects, and reconnects with backoff whenever the stream ends. */
import { authoritiesDigest } from "@flotilla/proto";
import { createBackoff, type Semaphore } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import { createRepeatFilter, type Log } from "@flotilla/shared/log";
import { type Clock, delay } from "@flotilla/shared/time";
import { createOutbox, type Outbox } from "../../observe/index.ts";
import {
  type AgentIdentity,
  type ConnectHub,
  describeSessionEnd,
  type IdentityController,
  type Intake,
  renewBeforeExpiry,
} from "../../state/index.ts";
import { type AnswerRequest, rejectRequest } from "../requests/open-requests.ts";
import { runSession, type SessionEnd, type SessionOptions } from "./session.ts";

export interface HubConnectionDeps {
  readonly identity: IdentityController;
  readonly connectHub: ConnectHub;
  readonly agentVersion: string;
  readonly agentNamespace: string;
  /** The version of the cluster's Kubernetes. It may take seconds, and never rejects; absent: it is not sent. */
  readonly readKubernetesVersion?: (signal: AbortSignal) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
  /**
   * Limits the connections that have not received Welcome, for many agents in one process: if all connected at once, none
   * would be ready before the last.
   */
  readonly handshakes?: Pick<Semaphore, "acquire" | "release">;
}

export interface HubConnection {
  /** Accepts reports at any time, and sends them when there is a stream. */
  readonly outbox: Outbox;
  readonly isConnected: boolean;
  /** Why there is no connection; "" before the first failure. */
  readonly lastError: string;
  /** Called when `isConnected` has changed. */
  onChange(listener: () => void): void;
  /** How many states the hub has not acknowledged yet. */
  readonly unacknowledged: number;
  /**
   * Stays connected until `signal` aborts. Never rejects. `answer`: to requests of users; without it they are rejected.
   */
  run(intake: Intake, signal: AbortSignal, answer?: AnswerRequest): Promise<void>;
}

/** What handles the messages of the hub. */
type Handlers = Pick<SessionOptions, "intake" | "answer">;

/** With jitter: 0.3 to 0.5 s after the first failure, at most 30 s. */
const backoffLimits = { firstMs: 400, longestMs: 24_000 };

/** A connection that lasted this long resets the backoff. */
const healthyMs = 10_000;

export function createHubConnection(deps: HubConnectionDeps): HubConnection {
  const { identity, clock, log, random = Math.random } = deps;
  const outbox = createOutbox();
  let isConnected = false;
  let lastError = "";
  const listeners: (() => void)[] = [];
  /** Aborts when another identity has replaced the one of the current connection. */
  let replaced = new AbortController();
  identity.onChange(() => {
    replaced.abort();
    replaced = new AbortController();
  });

  function setConnected(value: boolean): void {
    isConnected = value;
    for (const listener of listeners) listener();
  }

  async function stayConnected(handlers: Handlers, signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ ...backoffLimits, random });
    const repeats = createRepeatFilter(clock);
    while (!signal.aborted) {
      const outdated = AbortSignal.any([signal, replaced.signal]);
      const end = await connectOnce(handlers, signal, outdated);
      // There is another identity, or another replica of the hub takes over.
      if (end.isLocal || (end.isGoingAway && end.connectedMs > 0)) {
        backoff.reset();
        if (end.isGoingAway) log.info({ why: end.message }, "hub ended the stream, reconnecting");
        continue;
      }
      if (end.connectedMs >= healthyMs) backoff.reset();
      const retryMs = Math.round(backoff.next());
      if (end.connectedMs > 0) repeats.reset();
      const level = repeats.isNew(end.message) ? "warn" : "debug";
      lastError = end.message;
      log[level](
        { code: end.code, err: end.message, retryMs },
        "not connected to the hub, retrying; installed releases are still reconciled",
      );
      await delay(clock, retryMs, outdated);
      if (outdated.aborted) backoff.reset();
    }
  }

  /** Until the stream ends, or `outdated` aborts. Never rejects. */
  async function connectOnce(
    handlers: Handlers,
    signal: AbortSignal,
    outdated: AbortSignal,
  ): Promise<SessionEnd> {
    const handshake = createPermit(deps.handshakes);
    try {
      const current = await identity.waitForIdentity(signal);
      const kubernetesVersion = await deps.readKubernetesVersion?.(outdated);
      await handshake.acquire();
      if (outdated.aborted) return abortedEarly;
      const end = await runWith(deps, current, {
        ...handlers,
        outbox,
        kubernetesVersion,
        signal: outdated,
        onWelcome(epoch) {
          handshake.release();
          setConnected(true);
          log.info({ hub: current.hubAddress, epoch }, "connected to the hub");
        },
      }).finally(() => setConnected(false));
      // The hub's clock decides: it does not accept an expired certificate.
      if (end.code === "UNAUTHENTICATED") {
        if (end.isGoingAway) identity.reportExpired(current);
        else identity.reportUnauthenticated(current);
      }
      return end.isGoingAway
        ? end
        : { ...end, message: describeSessionEnd(current.hubAddress, end) };
    } catch (thrown) {
      const message = messageOf(thrown);
      return { isGoingAway: false, isLocal: false, message, code: "INTERNAL", connectedMs: 0 };
    } finally {
      handshake.release();
    }
  }

  return {
    outbox,
    get isConnected() {
      return isConnected;
    },
    get lastError() {
      return identity.lastError === "" ? lastError : identity.lastError;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    get unacknowledged() {
      return outbox.unacknowledged;
    },
    async run(intake, signal, answer = rejectRequest) {
      await Promise.all([identity.run(signal), stayConnected({ intake, answer }, signal)]);
    },
  };
}

/** One session with this identity. Its certificate is renewed during the session. */
async function runWith(
  deps: HubConnectionDeps,
  current: AgentIdentity,
  session: Handlers & Pick<SessionOptions, "outbox" | "kubernetesVersion" | "signal" | "onWelcome">,
): Promise<SessionEnd> {
  const { hubAddress: address, authoritiesPem, chainPem, keyPem } = current;
  const over = new AbortController();
  const client = deps.connectHub({ address, authoritiesPem, certificate: { chainPem, keyPem } });
  const renewal = renewBeforeExpiry(deps, client, current, over.signal);
  try {
    return await runSession({
      ...deps,
      ...session,
      stream: client.connect(),
      hubId: current.hubId,
      authoritiesDigest: authoritiesDigest(authoritiesPem),
      setAuthorities: (pem) => deps.identity.setAuthorities(current, pem),
    });
  } finally {
    over.abort();
    client.close();
    await renewal;
  }
}

/** The stream was not opened. */
const abortedEarly: SessionEnd = {
  isGoingAway: false,
  isLocal: true,
  message: "",
  code: "CANCELLED",
  connectedMs: 0,
};

/** One permit of a semaphore; `release` is idempotent. */
function createPermit(semaphore: HubConnectionDeps["handshakes"]) {
  let isAcquired = false;
  return {
    async acquire(): Promise<void> {
      await semaphore?.acquire();
      isAcquired = true;
    },
    release(): void {
      if (isAcquired) semaphore?.release();
      isAcquired = false;
    },
  };
}
