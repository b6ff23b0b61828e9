/** The dashboard of a replica of the hub: its page and its API, put together. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { openApiDocument, type Session as ShownSession } from "@flotilla/shared/dashboard";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { hubErrors } from "../../base/index.ts";
import { createAccess } from "../access/cached-access.ts";
import { createScopes, type ViewedKind } from "../access/scope.ts";
import type { FleetDetails, FleetView } from "../fleetview/index.ts";
import type { OidcLogin } from "../oidc/index.ts";
import type { UserRequests } from "../requests/user-requests.ts";
import { createLoginCookies } from "../session/login-cookies.ts";
import { createSessionKeys } from "../session/session-keys.ts";
import { createSessions } from "../session/sessions.ts";
import { actionRoutes } from "./action-routes.ts";
import { agentRequestRoute } from "./agent-request-route.ts";
import type { Env } from "./context.ts";
import { detailRoutes } from "./detail-routes.ts";
import { fleetRoutes } from "./fleet-routes.ts";
import { gatePlanRoute } from "./gate-plan-route.ts";
import { limitBody, requireSession, securityHeaders } from "./guards.ts";
import { createLargeAnswers } from "./large-answers.ts";
import { oidcRoutes } from "./oidc-routes.ts";
import { createRedeemCode } from "./one-time-login.ts";
import { servePage } from "./page.ts";
import { problemOf } from "./problem.ts";
import { maxBodyBytes, serve } from "./respond.ts";
import { rolloutRoutes } from "./rollout-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import type { AsUser } from "./user-client.ts";
import { createViewedResources } from "./viewed-resources.ts";

export interface DashboardDeps {
  readonly rest: KubeRest;
  readonly asUser: AsUser;
  /** The namespace of the hub. */
  readonly namespace: string;
  readonly view: FleetView;
  readonly details: FleetDetails;
  readonly events: EventRecorder;
  readonly requests: Pick<UserRequests, "answer">;
  readonly viewedKinds: readonly ViewedKind[];
  /** Absent: users log in with tokens alone. */
  readonly oidc?: OidcLogin | undefined;
  readonly hub: ShownSession["hub"];
  /** The folder with the built page. */
  readonly pageDir: string;
  readonly addressHeader?: string | undefined;
  readonly notReady: () => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Dashboard {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): void;
}

export async function createDashboard(deps: DashboardDeps): Promise<Dashboard> {
  const { rest, namespace, view, viewedKinds, oidc, clock, log } = deps;
  const access = createAccess(rest, clock);
  const scopeOf = createScopes(access, viewedKinds, clock);
  const keys = createSessionKeys({ rest, namespace, clock });
  const sessions = createSessions({ keys, access, clock });
  const cookies = createLoginCookies({ keys, clock });

  const app = new Hono<Env>();
  app.use(secureHeaders(securityHeaders));
  app.use("/api/*", async (context, next) => {
    await next();
    if (!context.res.headers.has("cache-control"))
      context.res.headers.set("cache-control", "no-store");
  });
  app.use("/api/*", limitBody(maxBodyBytes));
  app.use("/api/*", requireSession({ ...deps, sessions, scopeOf }));
  const byOidc = oidc && oidcRoutes(app, { ...deps, oidc, sessions, cookies });
  sessionRoutes(app, {
    ...deps,
    sessions,
    redeemCode: createRedeemCode(deps),
    methods: byOidc === undefined ? ["token"] : ["token", "oidc"],
    failureOf: (context) => Promise.resolve(byOidc?.failureOf(context)),
    namespacesOf({ var: { scope } }) {
      const seen = viewedKinds.flatMap(({ resource, namespaces }) =>
        [...namespaces()].filter((each) => scope.sees(resource.kind, each)),
      );
      return [...new Set(seen)].sort();
    },
  });
  const answerLarge = createLargeAnswers({ view, clock });
  const fleet = fleetRoutes(app, { view, sessions, scopeOf, answerLarge, clock });
  const resources = createViewedResources(viewedKinds);
  const actionsFor = actionRoutes(app, { ...deps, access, resources });
  detailRoutes(app, { ...deps, access, resources, actionsFor, answerLarge });
  rolloutRoutes(app, { ...deps, access, resources });
  gatePlanRoute(app, { rest, access, resources });
  agentRequestRoute(app, { ...deps, access, resources });
  serve(app, "openApi", (context) => context.json(openApiDocument(deps.hub.version)));
  app.all("/api/*", () => {
    throw new AppError(hubErrors.VIEW_NOT_FOUND, "the API has no such address");
  });
  app.route("/", await servePage(deps.pageDir));
  app.onError((thrown, context) => {
    const { status, problem, isInternal } = problemOf(thrown);
    if (isInternal)
      log.error({ err: AppError.from(thrown), path: context.req.path }, "dashboard request failed");
    return context.json(problem, status);
  });

  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return {
    async handle(request, response) {
      await listener(request, response);
    },
    close: () => fleet.close(),
  };
}
