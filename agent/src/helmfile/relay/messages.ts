/** What the relay sends. The author of the helmfile can send it as well, so nothing in it is believed. */
import * as z from "zod";

/** The first frame: a command line. */
export const commandSchema = z.object({
  token: z.string().max(100),
  program: z.enum(["helm", "git"]),
  arguments: z.array(z.string()).max(10_000),
  /** The working directory, inside of the sandbox. */
  directory: z.string().max(4_096),
});

/** What came of what the agent has asked for. */
export const replySchema = z.discriminatedUnion("kind", [
  /** The payload is the file. */
  z.object({ kind: z.literal("file") }),
  /** The payload is a tar archive of the folder. */
  z.object({ kind: z.literal("folder") }),
  z.object({ kind: z.literal("absent") }),
  z.object({ kind: z.literal("done"), code: z.number().int() }),
  z.object({ kind: z.literal("failed"), why: z.string() }),
]);

export type Reply = Readonly<z.infer<typeof replySchema>>;

/** What the agent asks the relay for; `local/tools/sandbox/relay/perform.go` does it. */
export type Request =
  | { readonly ask: "input"; readonly limit: number }
  | { readonly ask: "take"; readonly path: string; readonly limit: number }
  | { readonly ask: "put"; readonly path: string }
  | { readonly ask: "unpack"; readonly path: string }
  | { readonly ask: "execute"; readonly program: string; readonly arguments: readonly string[] }
  /** `stdout`: how many bytes of the payload are standard output. */
  | { readonly ask: "exit"; readonly code: number; readonly stdout: number };
