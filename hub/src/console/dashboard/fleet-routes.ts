/** The summary of the fleet, and its changes. */
import { randomBytes } from "node:crypto";
import type { Fleet } from "@flotilla/shared/dashboard";
import { type Clock, formatTimeMs } from "@flotilla/shared/time";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { callerOf } from "../access/cached-access.ts";
import type { ScopeOf } from "../access/scope.ts";
import type { FleetView } from "../fleetview/index.ts";
import type { Sessions } from "../session/sessions.ts";
import { createChangeStreams } from "./change-stream.ts";
import type { Api } from "./context.ts";
import type { AnswerLarge } from "./large-answers.ts";
import { formatPosition } from "./position.ts";
import { serve } from "./respond.ts";

export interface FleetRoutesDeps {
  readonly view: FleetView;
  readonly sessions: Pick<Sessions, "read">;
  readonly scopeOf: ScopeOf;
  readonly answerLarge: AnswerLarge;
  readonly clock: Clock;
}

export interface FleetRoutes {
  close(): void;
}

export function fleetRoutes(
  api: Api,
  { view, sessions, scopeOf, answerLarge, clock }: FleetRoutesDeps,
): FleetRoutes {
  // Lower-case letters and digits, as in positions.
  const epoch = randomBytes(8).toString("hex");
  const streams = createChangeStreams({ view, epoch, clock });

  serve(api, "fleet", (context) => {
    const { scope } = context.var;
    return answerLarge(context, {
      key: scope.key,
      freshness: "recent",
      make(): Fleet {
        const position = formatPosition(epoch, view.position);
        return { position, now: formatTimeMs(clock.now()), ...view.fleet(scope) };
      },
    });
  });
  serve(api, "changes", (context) => {
    const { outgoing: response } = context.env;
    const cookie = context.req.header("cookie");
    const { user, expiresAtMs } = context.var.session;
    const viewer = {
      response,
      session: { user: callerOf(user), expiresAtMs },
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
