/** Keeps the agent connected to its hub, for as long as it runs and whatever happens to either. */
import { authoritiesDigest } from "@flotilla/proto/authorities.ts";
import type { Semaphore } from "@flotilla/shared/concurrency/semaphore.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import { createRepeatFilter } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { delay } from "@flotilla/shared/time/clock.ts";
import type { IdentityKeeper } from "../identity/identity-keeper.ts";
import { renewInTime } from "../identity/renewal.ts";
import { backoffMs, linkBackoff } from "./backoff.ts";
import { type ConnectionEnd, runConnection } from "./connection.ts";
import type { ConnectHub } from "./hub-client.ts";
import { createOutbox } from "./outbox.ts";
import type { Intake, Outbox } from "./ports.ts";
import { whyNotConnected } from "./why-not-connected.ts";

export interface LinkDeps {
  readonly keeper: IdentityKeeper;
  readonly connectHub: ConnectHub;
  readonly agentVersion: string;
  readonly agentNamespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
  /**
   * Places for connections that are begun and not welcomed yet, where many agents share a process: all of them at once would
   * have no time for any.
   */
  readonly places?: Pick<Semaphore, "acquire" | "release">;
}

export interface Link {
  /** Takes reports at any time; they are said when there is a stream. */
  readonly outbox: Outbox;
  readonly isConnected: boolean;
  /** Why there is no connection; "" where nothing has gone wrong yet. */
  readonly trouble: string;
  /** Hears that `isConnected` has changed. */
  onChange(listener: () => void): void;
  /** How many states the hub has not acknowledged yet. */
  readonly unacknowledged: number;
  /** Connects, and again whenever the stream ends, until `signal` aborts. Never rejects. */
  run(intake: Intake, signal: AbortSignal): Promise<void>;
}

/** A connection that lived this long shows that the hub is well: the next wait begins small again. */
const healthyMs = 10_000;

export function createLink(deps: LinkDeps): Link {
  const { keeper, connectHub, clock, log, random = Math.random } = deps;
  const outbox = createOutbox();
  let isConnected = false;
  let trouble = "";
  const listeners: (() => void)[] = [];
  /** Aborts when another identity has taken the place of the one that the present connection was made with. */
  let replaced = new AbortController();
  keeper.onReplaced(() => {
    replaced.abort();
    replaced = new AbortController();
  });

  function changed(): void {
    for (const listener of listeners) listener();
  }

  async function run(intake: Intake, signal: AbortSignal): Promise<void> {
    await Promise.all([keeper.run(signal), stayConnected(intake, signal)]);
  }

  async function stayConnected(intake: Intake, signal: AbortSignal): Promise<void> {
    let failures = 0;
    const repeats = createRepeatFilter(clock);
    while (!signal.aborted) {
      const outdated = AbortSignal.any([signal, replaced.signal]);
      const end = await connectOnce(intake, signal, outdated);
      // Another identity, or a hub that hands its agents over: somebody waits on the other side.
      if (end.isOwn || (end.isHandOver && end.livedMs > 0)) {
        failures = 0;
        if (end.isHandOver)
          log.info({ why: end.message }, "hub ended the stream, connecting again");
        continue;
      }
      failures = end.livedMs >= healthyMs ? 1 : failures + 1;
      const retryMs = backoffMs(linkBackoff, failures, random());
      if (end.livedMs > 0) repeats.reset();
      const level = repeats.isNew(end.message) ? "warn" : "debug";
      trouble = end.message;
      log[level](
        { code: end.code, err: end.message, retryMs },
        "not connected to the hub: what is installed stays and is kept up, the hub is tried again",
      );
      await delay(clock, retryMs, outdated);
      if (outdated.aborted) failures = 0;
    }
  }

  /** Until the stream ends, or `outdated` aborts. Never rejects. */
  async function connectOnce(
    intake: Intake,
    signal: AbortSignal,
    outdated: AbortSignal,
  ): Promise<ConnectionEnd> {
    const over = new AbortController();
    const place = createPlace(deps.places);
    try {
      const identity = await keeper.usable(signal);
      await place.take();
      if (outdated.aborted) return endedBeforeItBegan;
      const { hubAddress: address, authoritiesPem, chainPem, keyPem } = identity;
      const client = connectHub({ address, authoritiesPem, certificate: { chainPem, keyPem } });
      const renewal = renewInTime(deps, client, identity, over.signal);
      try {
        const end = await runConnection({
          ...deps,
          stream: client.connect(),
          hubId: identity.hubId,
          authoritiesDigest: authoritiesDigest(authoritiesPem),
          trust: (pem) => keeper.trust(identity, pem),
          intake,
          outbox,
          signal: outdated,
          onWelcome: (epoch) => {
            place.giveBack();
            isConnected = true;
            changed();
            log.info({ hub: address, epoch }, "connected to the hub");
          },
        });
        // The hub's clock decides: with a certificate that has ended it lets nobody in.
        if (end.code === "UNAUTHENTICATED") {
          if (end.isHandOver) keeper.ended(identity);
          else keeper.doubted(identity);
        }
        return end.isHandOver ? end : { ...end, message: whyNotConnected(address, end) };
      } finally {
        isConnected = false;
        changed();
        over.abort();
        client.close();
        await renewal;
      }
    } catch (thrown) {
      const message = messageOf(thrown);
      return { isHandOver: false, isOwn: false, message, code: "INTERNAL", livedMs: 0 };
    } finally {
      place.giveBack();
    }
  }

  return {
    outbox,
    get isConnected() {
      return isConnected;
    },
    get trouble() {
      return keeper.trouble === "" ? trouble : keeper.trouble;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    get unacknowledged() {
      return outbox.unacknowledged;
    },
    run,
  };
}

const endedBeforeItBegan: ConnectionEnd = {
  isHandOver: false,
  isOwn: true,
  message: "",
  code: "CANCELLED",
  livedMs: 0,
};

/** A place among those that connect; to give it back twice is harmless. */
function createPlace(places: LinkDeps["places"]) {
  let isTaken = false;
  return {
    async take(): Promise<void> {
      await places?.acquire();
      isTaken = true;
    },
    giveBack(): void {
      if (isTaken) places?.release();
      isTaken = false;
    },
  };
}
