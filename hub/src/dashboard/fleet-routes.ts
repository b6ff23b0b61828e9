/** The fleet in short, and its changes. */
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { createLruCache } from "@flotilla/shared/cache";
import type { Fleet } from "@flotilla/shared/dashboard";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Scope, ScopeOf } from "../access/index.ts";
import type { FleetView } from "../fleetview/index.ts";
import type { Sessions } from "../session/index.ts";
import { createChangeStreams } from "./change-stream.ts";
import type { Api } from "./context.ts";
import { formatPosition } from "./position.ts";
import { serve } from "./respond.ts";

export interface FleetRoutesDeps {
  readonly view: FleetView;
  readonly sessions: Pick<Sessions, "read">;
  readonly scopeOf: ScopeOf;
  readonly clock: Clock;
}

export interface FleetRoutes {
  close(): void;
}

/** Of different scopes. */
const maxKept = 16;
/** Answers are made once for all who load the page within this time; what has changed since follows as changes. */
const keptMs = 1_000;

interface Answer {
  readonly madeAt: number;
  readonly body: Promise<Uint8Array<ArrayBuffer>>;
}

export function fleetRoutes(
  api: Api,
  { view, sessions, scopeOf, clock }: FleetRoutesDeps,
): FleetRoutes {
  // Lower-case letters and digits, as in positions.
  const epoch = randomBytes(8).toString("hex");
  const streams = createChangeStreams({ view, epoch, clock });
  const answers = createLruCache<Answer>(maxKept);

  function answerFor(scope: Scope): Promise<Uint8Array<ArrayBuffer>> {
    const known = answers.get(scope.key);
    const now = clock.monotonic();
    if (known !== undefined && now - known.madeAt < keptMs) return known.body;
    const position = formatPosition(epoch, view.position);
    const fleet: Fleet = { position, now: formatTimeMs(clock.now()), ...view.fleet(scope) };
    const body = compressed(JSON.stringify(fleet));
    answers.set(scope.key, { madeAt: now, body });
    return body;
  }

  serve(api, "fleet", async (context) => {
    const body = await answerFor(context.var.scope);
    return context.body(body, 200, {
      "content-type": "application/json",
      "content-encoding": "gzip",
    });
  });
  serve(api, "changes", (context) => {
    const { outgoing: response } = context.env;
    const cookie = context.req.header("cookie");
    const viewer = {
      response,
      async scope() {
        const session = await sessions.read(cookie);
        return session && (await scopeOf(session.user));
      },
      after: context.req.header("last-event-id") ?? context.req.query("after"),
    };
    streams.open(viewer, context.var.scope);
    return RESPONSE_ALREADY_SENT;
  });
  return { close: () => streams.close() };
}

/** Every browser takes gzip; the fastest level makes a fleet ten times smaller. */
async function compressed(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await deflate(text, { level: constants.Z_BEST_SPEED }));
}

const deflate = promisify(gzip);
