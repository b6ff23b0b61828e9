/** What each request of the dashboard's API has: who sends it, and what they may see. */
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import type { Scope } from "../access/scope.ts";
import type { Session } from "../session/sessions.ts";

export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** The session of a request that is not public. */
    session: Session;
    scope: Scope;
  };
}

export type ApiContext = Context<Env>;
export type Api = Hono<Env>;
