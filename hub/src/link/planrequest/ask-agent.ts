/** Asks the agent of a cluster for a plan: here, or by the replica of the hub that it is connected to. */
import { type PlanOptions, type ReferencedObject, wireLimits } from "@flotilla/proto";
import { type AgentCapability, type Cluster, parseObjectRef } from "@flotilla/shared/api";
import { createSemaphore } from "@flotilla/shared/concurrency";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import { type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { parseUsed } from "@flotilla/shared/referenced";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { AgentAnswer, AskAgent, PlanTarget, UnknownPlan } from "../../rollout/index.ts";
import { type ContentReader, onHub, type WorkspaceObjects } from "../../rules/index.ts";
import type { AnswerSink, NewRequest, OpenedRequest } from "../dispatch/agent-requests.ts";
import type { ReplicaLink } from "../replicalink/replica-link.ts";
import { createAnswerCollector, failed } from "./collect-answer.ts";
import { readForwarded } from "./forwarded-answer.ts";

export interface AskAgentDeps {
  /** The name of this replica. */
  readonly replica: string;
  readonly clusters: Pick<Store<Cluster>, "get">;
  /** Asks an agent that is connected here. */
  readonly ask: (cluster: ObjectKey, request: NewRequest, sink: AnswerSink) => OpenedRequest;
  readonly link: Pick<ReplicaLink, "forward">;
  /** `host:port` by which another replica is reached; undefined: not known. */
  readonly addressOf: (replica: string) => string | undefined;
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known">;
  readonly contents: ContentReader;
  readonly clock: Pick<Clock, "setTimeout">;
}

/** For one agent; it renders a chart twice, and compares all of its objects. */
const answerTimeoutMs = 60_000;
/** The limit of a content and what it refers to: more than agents are sent in one message. */
const mostSentBytes = 3 * 1024 * 1024;
/** What is larger than this is not sent to many agents at a time. */
const largeBytes = 256 * 1024;
const parallelLarge = 8;

const capability: AgentCapability = "Plan";

export function createAgentAsker(deps: AskAgentDeps): AskAgent {
  const large = createSemaphore(parallelLarge);

  return async function ask(target, { key, withText }, signal) {
    const where = placeOf(deps, target);
    if (where.kind === "unknown") return where;
    try {
      const { deploymentId, hasContent } = target;
      const content = hasContent
        ? undefined
        : (target.content ?? (await deps.contents.read(deploymentId)));
      const objects = await objectsOf(deps, target);
      const bytes =
        (content?.length ?? 0) +
        objects.reduce((sum, { packed }) => sum + (packed?.content.length ?? 0), 0);
      if (bytes > mostSentBytes)
        return failed(
          `its content and the objects that it refers to have ${bytes} bytes, more than the ${mostSentBytes} that can be planned`,
        );
      const sent = content === undefined ? {} : { content };
      const body = { kind: "plan", deploymentId, ...sent, key, withText, objects } as const;
      const send = () => answerOf(deps, where.replica, { target, body }, signal);
      return bytes > largeBytes ? await large.run(send) : await send();
    } catch (thrown) {
      return failed(AppError.from(thrown).message);
    }
  };
}

type Place = { readonly kind: "replica"; readonly replica: string } | UnknownPlan;

/** The replica that the agent is connected to. */
function placeOf({ clusters }: Pick<AskAgentDeps, "clusters">, { cluster }: PlanTarget): Place {
  const agent = clusters.get(cluster)?.status?.agent;
  if (agent?.connected !== true)
    return {
      kind: "unknown",
      reason: "Offline",
      message: `its agent is offline${agent?.lastSeen ? ` since ${agent.lastSeen}` : ""}`,
    };
  if (agent.capabilities?.includes(capability) !== true)
    return {
      kind: "unknown",
      reason: "Outdated",
      message: `its agent has version ${agent.version ?? "unknown"}, which makes no plans; upgrade the agent`,
    };
  return { kind: "replica", replica: agent.replica ?? "" };
}

/** What the content refers to and the agent does not have yet. Only what the hub itself has found in a content is read. */
async function objectsOf(
  { objects }: Pick<AskAgentDeps, "objects">,
  { cluster, objects: names }: PlanTarget,
): Promise<readonly ReferencedObject[]> {
  if (names.length > wireLimits.planObjects)
    throw new AppError(
      hubErrors.REQUEST_LIMITED,
      `it refers to ${names.length} objects, more than the ${wireLimits.planObjects} that can be planned`,
    );
  const { namespace: workspace = "" } = refOf(cluster);
  const read = await Promise.all(
    [...parseUsed(names)].map(async ([text, used]): Promise<readonly ReferencedObject[]> => {
      const ref = parseObjectRef(text);
      if (ref === undefined) return [];
      const [namespace, own] = onHub(ref, workspace);
      objects.watch(namespace, own);
      try {
        const found = await objects.known(namespace, own);
        if (found.kind !== "present") return [ref];
        const { digest, bytes: content } = await found.sent.pack(used);
        return [{ ...ref, packed: { digest, content } }];
      } finally {
        objects.unwatch(namespace, own);
      }
    }),
  );
  return read.flat();
}

async function answerOf(
  deps: AskAgentDeps,
  replica: string,
  {
    target: { cluster, deployment },
    body,
  }: { readonly target: PlanTarget; readonly body: { readonly kind: "plan" } & PlanOptions },
  signal: AbortSignal,
): Promise<AgentAnswer> {
  const late = new AbortController();
  const timer = deps.clock.setTimeout(() => late.abort(), answerTimeoutMs);
  const end = AbortSignal.any([signal, late.signal]);
  try {
    if (replica === deps.replica) return await answerHere(deps, cluster, { deployment, body }, end);
    const address = deps.addressOf(replica);
    if (address === undefined)
      return {
        kind: "unknown",
        reason: "Outdated",
        message: `replica ${replica} of the hub, to which it is connected, does not publish its address; upgrade the hub`,
      };
    const forwarded = { username: forPlans, cluster, deployment, body };
    const answer = await deps.link.forward({ name: replica, address }, forwarded, end);
    return await readForwarded(answer.statusCode ?? 502, answer);
  } catch (thrown) {
    if (late.signal.aborted) return tooLate;
    throw thrown;
  } finally {
    timer.cancel();
  }
}

/** Plans have a limit of their own, which is not one of a user. */
const forPlans = "plan";

const tooLate = failed(`there is no answer after ${answerTimeoutMs / 1_000} s`);

function answerHere(
  { ask }: Pick<AskAgentDeps, "ask">,
  cluster: ObjectKey,
  request: NewRequest,
  end: AbortSignal,
): Promise<AgentAnswer> {
  return new Promise((resolve) => {
    const collector = createAnswerCollector();
    function finish(answer: AgentAnswer): void {
      end.removeEventListener("abort", abort);
      resolve(answer);
    }
    function abort(): void {
      if (opened.kind === "open") opened.cancel();
      finish(tooLate);
    }
    const opened = ask(cluster, request, {
      data(bytes) {
        if (collector.add(bytes)) return;
        if (opened.kind === "open") opened.cancel();
        finish(collector.answer());
      },
      end({ failure }) {
        finish(failure === undefined ? collector.answer() : failed(failure.message));
      },
    });
    const refused = refusal(opened);
    if (refused !== undefined) return finish(refused);
    end.addEventListener("abort", abort, { once: true });
    if (end.aborted) abort();
  });
}

function refusal({ kind }: OpenedRequest): UnknownPlan | undefined {
  switch (kind) {
    case "open":
      return undefined;
    case "offline":
      return {
        kind: "unknown",
        reason: "Offline",
        message: "its agent is not connected to this replica of the hub any more",
      };
    case "outdated":
      return {
        kind: "unknown",
        reason: "Outdated",
        message: "its agent has a version that answers no requests; upgrade the agent",
      };
    case "busy":
      return failed("its agent answers other requests; retry when one of them has ended");
  }
}
