/** Keeps the agent connected to its hub, for as long as it runs and whatever happens to either. */
import type { Clock } from "@flotilla/shared/clock/clock.ts";
import { delay } from "@flotilla/shared/clock/delay.ts";
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { IdentityKeeper } from "../identity/identity-keeper.ts";
import { renewInTime } from "../identity/renewal.ts";
import { backoffMs, linkBackoff } from "./backoff.ts";
import { type ConnectionEnd, runConnection } from "./connection.ts";
import type { ConnectHub } from "./hub-client.ts";
import { createOutbox } from "./outbox.ts";
import type { Intake, Outbox } from "./ports.ts";

export interface LinkDeps {
  readonly keeper: IdentityKeeper;
  readonly connectHub: ConnectHub;
  readonly agentVersion: string;
  readonly agentNamespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
}

export interface Link {
  /** Takes reports at any time; they are said when there is a stream. */
  readonly outbox: Outbox;
  readonly isConnected: boolean;
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

  async function run(intake: Intake, signal: AbortSignal): Promise<void> {
    let failures = 0;
    let lastMessage = "";
    while (!signal.aborted) {
      const end = await connectOnce(intake, signal);
      // A renewed certificate, or a hub that hands its agents over: somebody waits on the other side.
      if (end.isOwn || (end.isHandOver && end.livedMs > 0)) {
        failures = 0;
        if (end.isHandOver) log.info({ err: end.message }, "hub goes away, connecting again");
        continue;
      }
      failures = end.livedMs >= healthyMs ? 1 : failures + 1;
      const retryMs = backoffMs(linkBackoff, failures, random());
      const level = end.message === lastMessage && end.livedMs === 0 ? "debug" : "warn";
      lastMessage = end.message;
      log[level](
        { code: end.code, err: end.message, retryMs },
        "not connected to the hub, it is tried again",
      );
      await delay(clock, retryMs, signal);
    }
  }

  /** Never rejects. */
  async function connectOnce(intake: Intake, signal: AbortSignal): Promise<ConnectionEnd> {
    const over = new AbortController();
    try {
      const identity = await keeper.usable(signal);
      const { hubAddress: address, authoritiesPem, chainPem, keyPem } = identity;
      const client = connectHub({ address, authoritiesPem, certificate: { chainPem, keyPem } });
      const renewed = new AbortController();
      const renewal = renewInTime(deps, client, identity, over.signal).then((result) => {
        if (result !== undefined) renewed.abort();
      });
      try {
        return await runConnection({
          ...deps,
          stream: client.connect(),
          hubId: identity.hubId,
          intake,
          outbox,
          signal: AbortSignal.any([signal, renewed.signal]),
          onWelcome: (epoch) => {
            isConnected = true;
            log.info({ hub: address, epoch }, "connected to the hub");
          },
        });
      } finally {
        isConnected = false;
        over.abort();
        client.close();
        await renewal;
      }
    } catch (thrown) {
      const message = messageOf(thrown);
      return { isHandOver: false, isOwn: false, message, code: "INTERNAL", livedMs: 0 };
    }
  }

  return {
    outbox,
    get isConnected() {
      return isConnected;
    },
    get unacknowledged() {
      return outbox.unacknowledged;
    },
    run,
  };
}
