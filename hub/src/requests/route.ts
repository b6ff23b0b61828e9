/** The HTTP route of requests of users: who asks, whether they may, and which replica and agent answers. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AnswerEnd } from "@flotilla/proto";
import { tokenHeader } from "@flotilla/shared/api/names";
import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import {
  type AnswerSink,
  type NewRequest,
  type OpenedRequest,
  requestErrors,
} from "../dispatch/index.ts";
import { clientAddress } from "../receiver/index.ts";
import { authenticate, authorize } from "./access.ts";
import { type FindDeps, type FoundDeployment, findDeployment } from "./find-deployment.ts";
import { forward, forwardedHeader } from "./forward.ts";
import { createInProgress } from "./in-progress.ts";
import { parseUserRequest } from "./parse-request.ts";
import { answerType, createAnswerLines, rejection } from "./response.ts";

export interface RequestRouteDeps extends FindDeps {
  readonly rest: Pick<KubeRest, "raw">;
  /** The name of this replica. */
  readonly replica: string;
  /** `host:port` by which other replicas are reached; undefined: not known. */
  readonly addressOf: (replica: string) => string | undefined;
  /** Asks an agent that is connected here. */
  readonly ask: (cluster: ObjectKey, request: NewRequest, sink: AnswerSink) => OpenedRequest;
  /** The header with the address of the client, which an ingress sets; absent: that of the connection counts. */
  readonly addressHeader?: string | undefined;
  /** The reason why requests are rejected now. */
  readonly notReady: () => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The agent has 30 s; it may have waited for other messages. */
const answerTimeoutMs = 35_000;
/** Of one address, also without a valid token. The API server has one address for all whose requests it passes on. */
const rate = { perSecond: 20, burst: 100 };

/** Answers every request below `/requests/`. */
export function requestRoute(deps: RequestRouteDeps) {
  const { rest, clock, log } = deps;
  const rates = createKeyedRateLimiter({ clock, ...rate });
  const inProgress = createInProgress();

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    if (request.method !== "GET") throw invalid("only GET is allowed");
    const asked = parseUserRequest(request.url ?? "/");
    if (deps.notReady() !== undefined) throw offline("this replica of the hub is not ready; retry");
    if (!rates.take(clientAddress(request, deps.addressHeader)))
      throw new AppError(requestErrors.REQUEST_LIMITED, "too many requests; retry in a second");
    const header = request.headers[tokenHeader];
    const token = typeof header === "string" ? header : "";
    const user = await authenticate(rest, token, signal);
    await authorize(rest, user, asked, signal);
    const done = inProgress.begin(user.username);
    try {
      const found = findDeployment(deps, asked);
      const { username } = user;
      const { namespace, name } = found.deployment.metadata;
      log.info(
        { request: asked.body.kind, user: username, deployment: `${namespace}/${name}` },
        "answering a request of a user",
      );
      const replica = connectedTo(found);
      if (replica === deps.replica || request.headers[forwardedHeader] !== undefined)
        await answerByAgent(deps, { found, body: asked.body }, response, signal);
      else await forward(request, response, { address: addressOf(deps, replica), token, signal });
    } finally {
      done();
    }
  }

  return async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    const timer = clock.setTimeout(() => closed.abort(tooLate()), answerTimeoutMs);
    try {
      await answer(request, response, closed.signal);
    } catch (thrown) {
      if (response.headersSent || response.destroyed) return void response.destroy();
      const { status, body } = rejection(AppError.from(closed.signal.aborted ? tooLate() : thrown));
      response.writeHead(status, {
        "content-type": "application/json",
        "cache-control": "no-store",
      });
      response.end(body);
    } finally {
      timer.cancel();
    }
  };
}

/** The replica that the agent is connected to. Throws AGENT_OFFLINE. */
function connectedTo({ cluster, clusterKey }: FoundDeployment): string {
  const agent = cluster.status?.agent;
  if (agent?.connected === true) return agent.replica ?? "";
  const since = agent?.lastSeen ? ` since ${agent.lastSeen}` : "";
  throw offline(`the agent of Cluster ${clusterKey} is offline${since}`);
}

function addressOf(deps: RequestRouteDeps, replica: string): string {
  const address = deps.addressOf(replica);
  if (address !== undefined) return address;
  throw new AppError(
    requestErrors.AGENT_OUTDATED,
    `the agent is connected to replica ${replica} of the hub, which does not publish its address (--replica-host); upgrade the hub, or set the flag`,
  );
}

interface AgentQuestion {
  readonly found: FoundDeployment;
  readonly body: NewRequest["body"];
}

/** Resolves at the end of the answer, or when `signal` aborts. Throws AGENT_OFFLINE, AGENT_OUTDATED and REQUEST_LIMITED. */
function answerByAgent(
  { ask }: RequestRouteDeps,
  { found: { deployment, clusterKey }, body }: AgentQuestion,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid = "" } = deployment.metadata;
  const lines = createAnswerLines();
  return new Promise((resolve, reject) => {
    function end(how: AnswerEnd): void {
      signal.removeEventListener("abort", abort);
      response.end(lines.end(how));
      resolve();
    }
    function abort(): void {
      if (opened.kind === "open") opened.cancel();
      const { code, message } = AppError.from(signal.reason);
      if (response.destroyed) resolve();
      else end({ failure: { code, message } });
    }
    const opened = ask(
      clusterKey,
      { deployment: { name, uid }, body },
      { data: (bytes) => void response.write(lines.data(bytes)), end },
    );
    const refused = refusal(opened, clusterKey);
    if (refused !== undefined) return reject(refused);
    response.writeHead(200, { "content-type": answerType, "cache-control": "no-store" });
    response.flushHeaders();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
}

function refusal({ kind }: OpenedRequest, cluster: ObjectKey): AppError | undefined {
  const agent = `the agent of Cluster ${cluster}`;
  switch (kind) {
    case "open":
      return undefined;
    case "offline":
      return offline(`${agent} is not connected to this replica of the hub any more; retry`);
    case "outdated":
      return new AppError(
        requestErrors.AGENT_OUTDATED,
        `${agent} has a version that answers no requests; upgrade the agent`,
      );
    case "busy":
      return new AppError(
        requestErrors.REQUEST_LIMITED,
        `${agent} answers other requests; retry when one of them has ended`,
      );
  }
}

function invalid(message: string): AppError {
  return new AppError(requestErrors.REQUEST_INVALID, message);
}

function offline(message: string): AppError {
  return new AppError(requestErrors.AGENT_OFFLINE, message);
}

function tooLate(): AppError {
  return new AppError(
    requestErrors.REQUEST_INTERRUPTED,
    `there is no complete answer after ${answerTimeoutMs / 1_000} s`,
  );
}
