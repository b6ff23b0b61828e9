/**
 * Answers requests of users who have been authenticated and authorized: by the agent, if it is connected to this replica, and
 * otherwise by the replica that it is connected to. Nothing of an answer is kept.
 */

import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { AnswerEnd, UserRequestBody } from "@flotilla/proto";
import type { ClusterGroup } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type {
  AnswerSink,
  ForwardedRequest,
  NewRequest,
  OpenedRequest,
  ReplicaLink,
} from "../../link/index.ts";
import { type FindDeps, type FoundDeployment, findDeployment } from "./find-deployment.ts";
import { createInProgress } from "./in-progress.ts";
import type { UserRequest } from "./parse-request.ts";
import { answerType, createAnswerLines, rejection } from "./response.ts";
import { valuesOptions } from "./values-options.ts";

export interface UserRequestsDeps extends FindDeps {
  /** The name of this replica. */
  readonly replica: string;
  /** `host:port` by which another replica is reached; undefined: not known. */
  readonly addressOf: (replica: string) => string | undefined;
  readonly link: Pick<ReplicaLink, "forward">;
  /** Asks an agent that is connected here. */
  readonly ask: (cluster: ObjectKey, request: NewRequest, sink: AnswerSink) => OpenedRequest;
  readonly groups: Pick<Store<ClusterGroup>, "byIndex">;
  readonly clock: Clock;
  readonly log: Log;
}

export interface UserRequests {
  /**
   * `authorize` resolves with the name of the user, or rejects. Writes the whole response, an error included; never rejects.
   */
  answer(
    response: ServerResponse,
    authorize: (signal: AbortSignal) => Promise<{
      readonly username: string;
      readonly asked: UserRequest;
    }>,
  ): Promise<void>;
  /** The same for another replica, which has authorized it. */
  answerReplica(forwarded: ForwardedRequest, response: ServerResponse): Promise<void>;
}

/** The agent has 30 s; it may have waited for other messages. */
const answerTimeoutMs = 35_000;
/** The same for a plan, for which it renders a chart twice. */
const planTimeoutMs = 65_000;
/** Plans that other replicas forward to this one at the same time. */
const mostPlans = 600;

export function createUserRequests(deps: UserRequestsDeps): UserRequests {
  const { clock, log, link } = deps;
  const inProgress = createInProgress();
  let plans = 0;

  /** Runs until the client goes, or the time is over. */
  async function respond(
    response: ServerResponse,
    work: (signal: AbortSignal) => Promise<void>,
    timeoutMs = answerTimeoutMs,
  ): Promise<void> {
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    const timer = clock.setTimeout(() => closed.abort(tooLate(timeoutMs)), timeoutMs);
    try {
      await work(closed.signal);
    } catch (thrown) {
      if (response.headersSent || response.destroyed) return void response.destroy();
      const { status, body } = rejection(
        AppError.from(closed.signal.aborted ? tooLate(timeoutMs) : thrown),
      );
      response.writeHead(status, {
        "content-type": "application/json",
        "cache-control": "no-store",
      });
      response.end(body);
    } finally {
      timer.cancel();
    }
  }

  async function whileInProgress(username: string, work: () => Promise<void>): Promise<void> {
    const done = inProgress.begin(username);
    try {
      await work();
    } finally {
      done();
    }
  }

  /** The replica that makes the plan limits how many agents it asks. */
  async function whilePlanning(
    forwarded: ForwardedRequest,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    if (plans >= mostPlans)
      throw new AppError(
        hubErrors.REQUEST_LIMITED,
        `this replica of the hub asks ${plans} agents for plans; retry when some have answered`,
      );
    plans += 1;
    try {
      await answerByAgent(deps, forwarded, response, signal);
    } finally {
      plans -= 1;
    }
  }

  async function answerFound(
    username: string,
    found: FoundDeployment,
    body: UserRequestBody,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, uid = "" } = found.deployment.metadata;
    const forwarded = { username, cluster: found.clusterKey, deployment: { name, uid }, body };
    const replica = connectedTo(found);
    if (replica === deps.replica) return await answerByAgent(deps, forwarded, response, signal);
    const to = { name: replica, address: addressOf(deps, replica) };
    const answer = await link.forward(to, forwarded, signal);
    const { statusCode = 502, headers } = answer;
    response.writeHead(statusCode, {
      "content-type": headers["content-type"] ?? "text/plain",
      "cache-control": "no-store",
    });
    response.flushHeaders();
    await pipeline(answer, response);
  }

  return {
    answer: (response, authorize) =>
      respond(response, async (signal) => {
        const { username, asked } = await authorize(signal);
        await whileInProgress(username, async () => {
          const found = findDeployment(deps, asked);
          const { namespace, name } = found.deployment.metadata;
          log.info(
            { request: asked.body.kind, user: username, deployment: `${namespace}/${name}` },
            "answering a request of a user",
          );
          await answerFound(username, found, bodyFor(deps, found, asked.body), response, signal);
        });
      }),
    answerReplica: (forwarded, response) =>
      forwarded.body.kind === "plan"
        ? respond(response, (signal) => whilePlanning(forwarded, response, signal), planTimeoutMs)
        : respond(response, (signal) =>
            whileInProgress(forwarded.username, () =>
              answerByAgent(deps, forwarded, response, signal),
            ),
          ),
  };
}

function bodyFor(
  { groups }: Pick<UserRequestsDeps, "groups">,
  { bundle, cluster }: FoundDeployment,
  body: UserRequestBody,
): UserRequestBody {
  if (body.kind !== "values") return body;
  const own = groups.byIndex(byNamespace, cluster.metadata.namespace ?? "");
  return { kind: "values", ...valuesOptions(bundle, cluster, own) };
}

/** The replica that the agent is connected to. Throws AGENT_OFFLINE. */
function connectedTo({ cluster, clusterKey }: FoundDeployment): string {
  const agent = cluster.status?.agent;
  if (agent?.connected === true) return agent.replica ?? "";
  const since = agent?.lastSeen ? ` since ${agent.lastSeen}` : "";
  throw offline(`the agent of Cluster ${clusterKey} is offline${since}`);
}

function addressOf(deps: UserRequestsDeps, replica: string): string {
  const address = deps.addressOf(replica);
  if (address !== undefined) return address;
  throw new AppError(
    hubErrors.AGENT_OUTDATED,
    `the agent is connected to replica ${replica} of the hub, which does not publish its address (--replica-host); upgrade the hub, or set the flag`,
  );
}

/** Resolves at the end of the answer, or when `signal` aborts. Throws AGENT_OFFLINE, AGENT_OUTDATED and REQUEST_LIMITED. */
function answerByAgent(
  { ask }: UserRequestsDeps,
  { cluster, deployment, body }: ForwardedRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
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
      cluster,
      { deployment, body },
      { data: (bytes) => void response.write(lines.data(bytes)), end },
    );
    const refused = refusal(opened, cluster);
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
        hubErrors.AGENT_OUTDATED,
        `${agent} has a version that answers no requests; upgrade the agent`,
      );
    case "busy":
      return new AppError(
        hubErrors.REQUEST_LIMITED,
        `${agent} answers other requests; retry when one of them has ended`,
      );
  }
}

function offline(message: string): AppError {
  return new AppError(hubErrors.AGENT_OFFLINE, message);
}

function tooLate(timeoutMs: number): AppError {
  return new AppError(
    hubErrors.REQUEST_INTERRUPTED,
    `there is no complete answer after ${timeoutMs / 1_000} s`,
  );
}
