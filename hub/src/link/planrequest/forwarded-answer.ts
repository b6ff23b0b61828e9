/** Reads the answer to a plan that another replica of the hub passes on: lines of JSON, or a `Status` that rejects the request. */
import { answerLineSchema } from "@flotilla/shared/dashboard";
import * as z from "zod";
import { hubErrors } from "../../base/index.ts";
import type { AgentAnswer } from "../../rollout/index.ts";
import { createAnswerCollector, failed } from "./collect-answer.ts";

/** A character may be written as six, and the last line is short. */
const mostBytes = 512 * 1024;

const statusSchema = z.looseObject({ reason: z.string(), message: z.string() });

export async function readForwarded(
  statusCode: number,
  body: AsyncIterable<Uint8Array>,
): Promise<AgentAnswer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > mostBytes) return failed("its answer is too long");
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  return statusCode === 200 ? linesOf(text) : rejectionOf(statusCode, text);
}

function linesOf(text: string): AgentAnswer {
  const collector = createAnswerCollector();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const read = answerLineSchema.safeParse(parseJson(line)).data;
    if (read === undefined) return failed("its answer cannot be read");
    if ("data" in read) collector.add(Buffer.from(read.data));
    else if (read.end.code !== undefined) return failed(read.end.message ?? read.end.code);
    else return collector.answer();
  }
  return failed("its answer ended before it was complete");
}

function rejectionOf(statusCode: number, text: string): AgentAnswer {
  const { reason, message } = statusSchema.safeParse(parseJson(text)).data ?? {};
  if (reason === hubErrors.AGENT_OFFLINE.code)
    return { kind: "unknown", reason: "Offline", message: message ?? "" };
  // A replica of an earlier version does not know what it is asked.
  if (reason === hubErrors.AGENT_OUTDATED.code || statusCode === 400)
    return {
      kind: "unknown",
      reason: "Outdated",
      message:
        message ?? "the replica of the hub that it is connected to has a version without plans",
    };
  return failed(message ?? `another replica of the hub has answered with ${statusCode}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
