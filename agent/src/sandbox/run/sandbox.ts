/** How programs that read files of tenants are run. */
import * as z from "zod";

export const sandboxSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("confined"),
    /** The program of the launcher: a path, or a name on the PATH of the run. */
    launcher: z.string(),
    /** The rules of this ABI are applied. */
    abi: z.number().int(),
  }),
  z.object({ kind: z.literal("unconfined") }),
  z.object({
    kind: z.literal("refused"),
    /** What is needed, what the kernel has, and what to do. */
    why: z.string(),
  }),
]);

/** How programs are run; data, because a process that runs one may be another than the one that decided. */
export type Sandbox = Readonly<z.infer<typeof sandboxSchema>>;
