/** The requests of the dashboard's API, from which its OpenAPI document is made. */
import type * as z from "zod";
import { appKinds, nameKinds } from "../fleet/apps/index.ts";
import { fleetPlanSchema } from "../plan/index.ts";
import { answerLineSchema } from "./answer-lines.ts";
import { changesSchema } from "./changes.ts";
import {
  actionRequestSchema,
  appDetailSchema,
  clusterDetailSchema,
  historySchema,
  releaseDetailSchema,
  sourceDetailSchema,
  targetsSchema,
} from "./details.ts";
import { fleetSchema } from "./fleet.ts";
import { rolloutActionRequestSchema, rolloutsSchema } from "./rollouts.ts";
import { loginMethodsSchema, loginSchema, sessionSchema } from "./session.ts";

export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  /** With parameters in braces, as OpenAPI has them. */
  readonly path: string;
  readonly summary: string;
  /** Whether it needs no session. */
  readonly isPublic?: boolean;
  /** Its optional parameters by name, with their descriptions. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /** Whether it redirects the browser to another page. */
  readonly isRedirect?: boolean;
  /** Absent: it answers without content, or with a stream. */
  readonly response?: z.ZodType;
  /** The media type of a stream, and the schema of its parts: of the data of an event, or of a line. */
  readonly stream?: { readonly type: string; readonly part: z.ZodType };
}

const app = "/api/v1/apps/{kind}/{namespace}/{name}";
const cluster = "/api/v1/clusters/{namespace}/{name}";
const release = `${cluster}/releases/{appKind}/{appNamespace}/{appName}`;

export const endpoints = {
  loginMethods: {
    method: "GET",
    path: "/api/v1/login",
    summary: "How to log in.",
    isPublic: true,
    response: loginMethodsSchema,
  },
  oidcLogin: {
    method: "GET",
    path: "/api/v1/login/oidc",
    summary:
      "Redirects the browser to the OpenID provider, if one is configured. `return`: the page to return to.",
    query: { return: "The path of the page to return to, with its query." },
    isPublic: true,
    isRedirect: true,
  },
  oidcCallback: {
    method: "GET",
    path: "/api/v1/login/oidc/callback",
    summary: "The client's redirect URI. Sets the session cookies and redirects to the page.",
    isPublic: true,
    isRedirect: true,
  },
  beginSession: {
    method: "POST",
    path: "/api/v1/session",
    summary: "Log in with a token of the hub's API server. Sets the session cookies.",
    isPublic: true,
    body: loginSchema,
    response: sessionSchema,
  },
  session: {
    method: "GET",
    path: "/api/v1/session",
    summary: "Who is logged in.",
    response: sessionSchema,
  },
  endSession: {
    method: "DELETE",
    path: "/api/v1/session",
    summary: "Log out. Removes the session cookies.",
  },
  fleet: {
    method: "GET",
    path: "/api/v1/fleet",
    summary: "Summary of everything that the user may see.",
    response: fleetSchema,
  },
  changes: {
    method: "GET",
    path: "/api/v1/changes",
    summary:
      "Server-sent events with what has changed since the position `after`, or since the header Last-Event-ID: `changes` (a list of Change; its id is the new position) and `reset` (read the fleet again).",
    query: {
      after: "The `position` of a fleet, or the id of an event. Absent: from now on.",
    },
    stream: { type: "text/event-stream", part: changesSchema },
  },
  openApi: {
    method: "GET",
    path: "/api/v1/openapi.json",
    summary: "This document.",
    isPublic: true,
  },
  app: {
    method: "GET",
    path: app,
    summary: `A ${nameKinds(appKinds)}.`,
    response: appDetailSchema,
  },
  targets: {
    method: "GET",
    path: `${app}/targets`,
    summary: "The clusters of its workspace: whether it is deployed there, and why.",
    response: targetsSchema,
  },
  history: {
    method: "GET",
    path: `${app}/history`,
    summary: "The versions that its clusters have had, the newest first.",
    response: historySchema,
  },
  rollouts: {
    method: "GET",
    path: `${app}/rollouts`,
    summary: "Its staged rollouts: the newest one with stages and gates, and the history.",
    response: rolloutsSchema,
  },
  gatePlan: {
    method: "GET",
    path: `${app}/gates/{gate}/plan`,
    summary:
      "What the approval of a Gate is about: groups of clusters with what Helm would change in them.",
    response: fleetPlanSchema,
  },
  cluster: { method: "GET", path: cluster, summary: "A Cluster.", response: clusterDetailSchema },
  release: {
    method: "GET",
    path: release,
    summary: "The release of an app in a cluster.",
    response: releaseDetailSchema,
  },
  agentRequest: {
    method: "GET",
    path: `${release}/{request}`,
    summary:
      "What the agent of the cluster reads: resources, events, values, log, diff or history, as lines of JSON.",
    query: {
      pod: "The pod whose log is read. Absent: all pods.",
      container: "The container whose log is read. Absent: all containers.",
      tail: "How many last lines of each container a log has. Absent: 100.",
      since: "How old the lines of a log are at most, as in `10m`.",
      previous: "`true`: the log of the instance before the last restart.",
      tests: "`true`: the logs of the pods of tests.",
    },
    stream: { type: "application/x-ndjson", part: answerLineSchema },
  },
  source: {
    method: "GET",
    path: "/api/v1/sources/{kind}/{namespace}/{name}",
    summary: "A source of Flux.",
    response: sourceDetailSchema,
  },
  act: {
    method: "POST",
    path: "/api/v1/actions",
    summary: "Change an object as the user.",
    body: actionRequestSchema,
  },
  actOnRollout: {
    method: "POST",
    path: "/api/v1/rollout-actions",
    summary: "Decide about a Gate, or halt, resume, take back or cancel a rollout, as the user.",
    body: rolloutActionRequestSchema,
  },
} as const satisfies Readonly<Record<string, Endpoint>>;

export type EndpointName = keyof typeof endpoints;
export type ResponseOf<N extends EndpointName> = (typeof endpoints)[N] extends {
  readonly response: infer S extends z.ZodType;
}
  ? z.infer<S>
  : undefined;
export type BodyOf<N extends EndpointName> = (typeof endpoints)[N] extends {
  readonly body: infer S extends z.ZodType;
}
  ? z.infer<S>
  : undefined;
