/** What the agent asks of a reader, as a line of JSON. */
import * as z from "zod";
import { buildTask } from "../../helm/chartbuild/build-task.ts";
import { recordTask } from "../../helm/record/record-task.ts";
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

export function parseTask(line: string): ReaderTask {
  return taskSchema.parse(JSON.parse(line));
}
