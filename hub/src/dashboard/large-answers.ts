/**
 * Answers that grow with the fleet: made once for all who ask for the same within a second, and compressed. So a page that many
 * have open costs the same as one that one has open; what has changed since follows as changes, or with the next answer.
 */
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { createFreshCache } from "@flotilla/shared/cache";
import type { Clock } from "@flotilla/shared/time";
import type { ApiContext } from "./context.ts";

/** `key`: equal for those who may get the same bytes. What `make` throws is thrown. */
export type AnswerLarge = (
  context: ApiContext,
  key: string,
  make: () => unknown,
) => Promise<Response>;

/** One of 5,000 clusters and 50 apps has 200 KB. */
const maxKept = 64;
const keptMs = 1_000;

export function createLargeAnswers(clock: Clock): AnswerLarge {
  const answers = createFreshCache<Uint8Array<ArrayBuffer>>({
    ...{ maxEntries: maxKept, freshMs: keptMs, clock },
  });
  return async function answer(context, key, make) {
    const body = await answers.get(key, async () => await compressed(JSON.stringify(make())));
    return context.body(body, 200, {
      "content-type": "application/json",
      "content-encoding": "gzip",
    });
  };
}

/** Every browser takes gzip; the fastest level makes a fleet ten times smaller. */
async function compressed(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await deflate(text, { level: constants.Z_BEST_SPEED }));
}

const deflate = promisify(gzip);
