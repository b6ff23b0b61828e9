/** What the agent asks of a reader, and what it answers: one line of JSON each. */
import * as z from "zod";
import { buildTask } from "../chartbuild/index.ts";
import { recordTask } from "../record/index.ts";
import { templateTask } from "../values/template/index.ts";

const taskSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("chart"), path: z.string(), digest: z.string() }),
  /** `json`: the values, which may have numbers that JSON.parse would round. */
  z.object({ kind: z.literal("values"), json: z.string() }),
  /** `name`: of the text, for messages. */
  z.object({ kind: z.literal("yaml"), text: z.string(), name: z.string() }),
  z.object({ kind: z.literal("record"), task: recordTask }),
  z.object({ kind: z.literal("templates"), task: templateTask }),
  z.object({ kind: z.literal("build"), task: buildTask }),
]);

export type ReaderTask = Readonly<z.infer<typeof taskSchema>>;

const replySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), value: z.unknown() }),
  z.object({ kind: z.literal("failed"), code: z.string(), message: z.string() }),
]);

export type ReaderReply = Readonly<z.infer<typeof replySchema>>;

export function parseTask(line: string): ReaderTask {
  return taskSchema.parse(JSON.parse(line));
}

export function parseReply(line: string): ReaderReply {
  return replySchema.parse(JSON.parse(line));
}
