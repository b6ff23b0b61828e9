/** Collects the bytes of an answer to a plan, with a cap before anything is decoded. */
import { maxPlanLineBytes, maxPlanTextBytes, parsePlanAnswer } from "@flotilla/shared/plan";
import { cutText } from "@flotilla/shared/text";
import type { AgentAnswer, UnknownPlan } from "../../rollout/index.ts";

/** The line, its break, and the text. */
const mostBytes = maxPlanLineBytes + 1 + maxPlanTextBytes;
/** Characters of a message of an agent. */
const messageChars = 512;

export interface AnswerCollector {
  /** Returns whether more may follow; if not, the answer is too long. */
  add(bytes: Uint8Array): boolean;
  /** What the bytes come to. */
  answer(): AgentAnswer;
}

export function createAnswerCollector(): AnswerCollector {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add(bytes) {
      size += bytes.length;
      if (size > mostBytes) chunks.length = 0;
      else chunks.push(bytes);
      return size <= mostBytes;
    },
    answer() {
      if (size > mostBytes) return failed(`its answer is longer than ${mostBytes} bytes`);
      const answer = parsePlanAnswer(Buffer.concat(chunks));
      return answer === undefined
        ? failed("its answer cannot be read as a plan")
        : { kind: "answered", answer };
    },
  };
}

export function failed(message: string): UnknownPlan {
  return { kind: "unknown", reason: "Failed", message: cutText(message, messageChars) };
}
