/** What a reader answers, one line of JSON for each task, and the loop of its program. */
import { createInterface } from "node:readline";
import * as z from "zod";
import { AppError } from "../errors/index.ts";

const replySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), value: z.unknown() }),
  z.object({ kind: z.literal("failed"), code: z.string(), message: z.string() }),
]);

export type ReaderReply = Readonly<z.infer<typeof replySchema>>;

export function parseReply(line: string): ReaderReply {
  return replySchema.parse(JSON.parse(line));
}

/** The whole program of a reader: does what each line of its standard input asks, one after the other, until that ends. */
export async function serveTasks(perform: (line: string) => Promise<unknown>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin }))
    process.stdout.write(`${JSON.stringify(await replyTo(line, perform))}\n`);
}

async function replyTo(
  line: string,
  perform: (line: string) => Promise<unknown>,
): Promise<ReaderReply> {
  try {
    return { kind: "done", value: await perform(line) };
  } catch (thrown) {
    const { code, message } = AppError.from(thrown);
    return { kind: "failed", code, message };
  }
}
