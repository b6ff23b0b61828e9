/**
 * Answers that grow with the fleet: compressed, and made at most once a second for all who request the same. So a page that many
 * have open costs as much as one that one user has open.
 */
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { createLruCache } from "@flotilla/shared/cache";
import { type Clock, delay } from "@flotilla/shared/time";
import type { FleetView } from "../fleetview/index.ts";
import type { ApiContext } from "./context.ts";

export interface LargeAnswer {
  /** Equal for those who may get the same bytes. */
  readonly key: string;
  /**
   * `recent`: made within the last second; the answer says at which position. `current`: has every change until now, those that
   * the viewer has been sent included; the next making is waited for if the last one was before a change.
   */
  readonly freshness: "recent" | "current";
  /** What it throws is thrown. */
  readonly make: () => unknown;
}

export type AnswerLarge = (context: ApiContext, answer: LargeAnswer) => Promise<Response>;

export interface LargeAnswersDeps {
  readonly view: Pick<FleetView, "position">;
  readonly clock: Clock;
}

type Body = Uint8Array<ArrayBuffer>;

interface Made {
  readonly body: Promise<Body>;
  readonly position: number;
  /** On the monotonic clock. */
  readonly at: number;
}

/** One of 5,000 clusters and 50 apps has 200 KB. */
const maxKept = 64;
const everyMs = 1_000;

export function createLargeAnswers({ view, clock }: LargeAnswersDeps): AnswerLarge {
  const answers = createLruCache<Made>(maxKept);
  /** By key; of requests that are open. */
  const nextMakings = new Map<string, Promise<Body>>();

  function makeNow({ key, make }: LargeAnswer): Promise<Body> {
    const [at, { position }] = [clock.monotonic(), view];
    const body = compressed(make);
    answers.set(key, { body, position, at });
    body.catch(() => answers.delete(key));
    return body;
  }

  function makeLater(answer: LargeAnswer, inMs: number): Promise<Body> {
    const { key } = answer;
    const next = delay(clock, inMs).then(() => {
      nextMakings.delete(key);
      return makeNow(answer);
    });
    nextMakings.set(key, next);
    return next;
  }

  function bodyOf(answer: LargeAnswer): Promise<Body> {
    const { key, freshness } = answer;
    const last = answers.get(key);
    const ageMs = last === undefined ? everyMs : clock.monotonic() - last.at;
    if (last !== undefined && ageMs < everyMs) {
      if (freshness === "recent" || last.position === view.position) return last.body;
      return nextMakings.get(key) ?? makeLater(answer, everyMs - ageMs);
    }
    return nextMakings.get(key) ?? makeNow(answer);
  }

  return async (context, answer) =>
    context.body(await bodyOf(answer), 200, {
      "content-type": "application/json",
      "content-encoding": "gzip",
    });
}

/** Every browser takes gzip; the fastest level makes a fleet ten times smaller. */
async function compressed(make: () => unknown): Promise<Body> {
  return new Uint8Array(await deflate(JSON.stringify(make()), { level: constants.Z_BEST_SPEED }));
}

const deflate = promisify(gzip);
