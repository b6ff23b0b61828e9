/** Maps requests of users to agents, and their answers, between the generated wire types and our own. */
import type {
  AgentRequest__Output,
  AgentRequest as WireAgentRequest,
} from "./generated/flotilla/v1/AgentRequest.ts";
import type {
  AnswerChunk__Output,
  AnswerChunk as WireAnswerChunk,
} from "./generated/flotilla/v1/AnswerChunk.ts";
import type { PlanRequest__Output } from "./generated/flotilla/v1/PlanRequest.ts";
import { referencedFromWire, referencedToWire } from "./map-referenced.ts";
import type { AgentRequest, AnswerChunk, RequestBody } from "./messages.ts";
import { atMost, key, long, present, text, WireError, wireLimits } from "./validation.ts";

export function agentRequestToWire({ id, deployment, body }: AgentRequest): WireAgentRequest {
  const request = { id, ...deployment };
  switch (body.kind) {
    case "log": {
      const { kind: _, ...log } = body;
      return { ...request, log };
    }
    case "diff":
      return { ...request, diff: {} };
    case "history":
      return { ...request, history: {} };
    case "resources":
      return { ...request, resources: {} };
    case "events":
      return { ...request, events: {} };
    case "values":
      return { ...request, values: { target: body.target, targetPaths: [...body.targetPaths] } };
    case "plan": {
      const { deploymentId, content = new Uint8Array(), key: planKey, withText, objects } = body;
      const plan = {
        deploymentId,
        content: Buffer.from(content),
        key: Buffer.from(planKey),
        text: withText,
        objects: objects.map(referencedToWire),
      };
      return { ...request, plan };
    }
  }
}

export function agentRequestFromWire(wire: AgentRequest__Output): AgentRequest {
  return {
    id: present(wire.id, "agent_request.id"),
    deployment: key(wire, "agent_request"),
    body: bodyFromWire(wire),
  };
}

function bodyFromWire(wire: AgentRequest__Output): RequestBody {
  if (wire.log) {
    const { tailLines, sinceSeconds, previous, tests } = wire.log;
    const pod = text(wire.log.pod, "log.pod");
    const container = text(wire.log.container, "log.container");
    return {
      kind: "log",
      ...(pod !== "" && { pod }),
      ...(container !== "" && { container }),
      tailLines,
      ...(sinceSeconds > 0 && { sinceSeconds }),
      previous,
      tests,
    };
  }
  if (wire.diff) return { kind: "diff" };
  if (wire.history) return { kind: "history" };
  if (wire.resources) return { kind: "resources" };
  if (wire.events) return { kind: "events" };
  if (wire.values) {
    const { target, targetPaths } = wire.values;
    atMost(targetPaths.length, wireLimits.targetPaths, "values.target_paths");
    return {
      kind: "values",
      target: text(target, "values.target"),
      targetPaths: targetPaths.map((path) => long(path, "values.target_paths")),
    };
  }
  if (wire.plan) return planFromWire(wire.plan);
  throw new WireError("the hub sent a request of an unknown kind");
}

function planFromWire({
  deploymentId,
  content,
  key: planKey,
  text: withText,
  objects,
}: PlanRequest__Output): RequestBody {
  atMost(planKey.length, wireLimits.planKeyBytes, "plan.key");
  atMost(objects.length, wireLimits.planObjects, "plan.objects");
  return {
    kind: "plan",
    deploymentId: present(deploymentId, "plan.deployment_id"),
    ...(content.length > 0 && { content }),
    key: planKey,
    withText,
    objects: objects.map((object) => referencedFromWire(object, "plan.objects")),
  };
}

export function chunkToWire({ id, data, end }: AnswerChunk): WireAnswerChunk {
  return {
    requestId: id,
    data: Buffer.from(data),
    last: end !== undefined,
    ...end?.failure,
  };
}

export function chunkFromWire(wire: AnswerChunk__Output): AnswerChunk {
  const { requestId, data, last, code } = wire;
  atMost(data.length, wireLimits.chunkBytes, "answer_chunk.data");
  const failure = {
    code: text(code, "answer_chunk.code"),
    message: long(wire.message, "answer_chunk.message"),
  };
  return {
    id: present(requestId, "answer_chunk.request_id"),
    data,
    ...(last && { end: failure.code === "" ? {} : { failure } }),
  };
}
