/** The HTTP route of `flotilla plan`: who asks, and whether they may read the changes of a rollout. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { tokenHeader } from "@flotilla/shared/api/names";
import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { clientAddress, readBody } from "../../events/index.ts";
import type { ProposedChange } from "../../rollout/index.ts";
import { reviewAccess } from "../access/reviews.ts";
import { authenticate } from "../requests/access.ts";
import { answerType, rejection } from "../requests/response.ts";
import { type AppPlanDeps, planApp } from "./app-plan.ts";
import { readGatePlan } from "./gate-plan.ts";
import { parsePlanRequest } from "./parse-plan.ts";
import { maxProposalBytes, parseProposal } from "./parse-proposal.ts";
import { planAttributes, planForbidden } from "./plan-right.ts";

export interface PlanRouteDeps extends AppPlanDeps {
  readonly rest: Pick<KubeRest, "raw" | "get">;
  /** The header with the address of the client, which an ingress sets; absent: the address of the connection counts. */
  readonly addressHeader?: string | undefined;
  /** The reason why requests are rejected now. */
  readonly notReady: () => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The plans that one address may ask for, also without a valid token. */
const rate = { perSecond: 1, burst: 20 };
/** Each asks up to 200 agents at a time. */
const mostPlans = 2;
/** Some thousand agents are asked 200 at a time, and each may take a minute. */
const timeoutMs = 10 * 60_000;
const bodyTimeoutMs = 10_000;

/** Answers one request; never rejects. */
export function planRoute(deps: PlanRouteDeps) {
  const { rest, clock, log, notReady, addressHeader } = deps;
  const rates = createKeyedRateLimiter({ clock, ...rate });
  const inProgress = new Map<string, number>();

  async function answer(request: IncomingMessage, signal: AbortSignal): Promise<string> {
    const { method } = request;
    if (method !== "GET" && method !== "POST")
      throw new AppError(hubErrors.REQUEST_INVALID, "only GET and POST are allowed");
    const asked = parsePlanRequest(request.url ?? "/");
    if (method === "POST" && asked.gate !== undefined)
      throw new AppError(hubErrors.REQUEST_INVALID, "what a Gate is about cannot be changed");
    if (notReady() !== undefined)
      throw new AppError(hubErrors.AGENT_OFFLINE, "this replica of the hub is not ready; retry");
    if (!rates.take(clientAddress(request, addressHeader)))
      throw new AppError(hubErrors.REQUEST_LIMITED, "too many plans; retry in a second");
    const header = request.headers[tokenHeader];
    const user = await authenticate(rest, typeof header === "string" ? header : "", signal);
    const { workspace, kind, name } = asked;
    const verb = method === "POST" ? "create" : "get";
    if (!(await reviewAccess(rest, user, planAttributes(workspace, verb), signal)))
      throw planForbidden(user, workspace, verb);
    if (asked.gate !== undefined)
      return JSON.stringify(await readGatePlan(rest, asked, asked.gate));
    return await whileInProgress(user.username, async () => {
      // Read only now: one user has one of them in memory.
      const change = method === "POST" ? await readProposal(request) : undefined;
      log.info({ user: user.username, app: `${kind} ${workspace}/${name}` }, "making a plan");
      return JSON.stringify(await planApp(deps, asked, change, signal));
    });
  }

  async function whileInProgress<T>(username: string, work: () => Promise<T>): Promise<T> {
    const total = [...inProgress.values()].reduce((sum, count) => sum + count, 0);
    if (inProgress.has(username))
      throw new AppError(
        hubErrors.REQUEST_LIMITED,
        `${username} has another plan in progress; retry when it has ended`,
      );
    if (total >= mostPlans)
      throw new AppError(
        hubErrors.REQUEST_LIMITED,
        `this replica of the hub makes ${total} other plans; retry when one of them has ended`,
      );
    inProgress.set(username, 1);
    try {
      return await work();
    } finally {
      inProgress.delete(username);
    }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    const timer = clock.setTimeout(() => closed.abort(tooLate()), timeoutMs);
    try {
      const data = await answer(request, closed.signal);
      response.writeHead(200, { "content-type": answerType, "cache-control": "no-store" });
      response.end(`${JSON.stringify({ data })}\n${JSON.stringify({ end: {} })}\n`);
    } catch (thrown) {
      if (response.destroyed) return;
      const { status, body } = rejection(AppError.from(thrown));
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

/** Throws REQUEST_INVALID. */
async function readProposal(request: IncomingMessage): Promise<ProposedChange> {
  const body = await readBody(request, { maxBytes: maxProposalBytes, timeoutMs: bodyTimeoutMs });
  if (body === undefined)
    throw new AppError(
      hubErrors.REQUEST_INVALID,
      `the body has more than ${maxProposalBytes} bytes, or did not arrive within ${bodyTimeoutMs / 1_000} s`,
    );
  return parseProposal(Buffer.from(body).toString());
}

function tooLate(): AppError {
  return new AppError(
    hubErrors.REQUEST_INTERRUPTED,
    `there is no complete plan after ${timeoutMs / 60_000} min; plan one stage with --stage, or some clusters with --sample`,
  );
}
