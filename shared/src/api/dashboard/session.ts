/** Who is logged in, and what they may see. */
import * as z from "zod";
import { csrfHeader } from "./csrf.ts";

export const sessionSchema = z
  .object({
    user: z.string(),
    groups: z.array(z.string()),
    csrfToken: z.string().meta({
      description: `To be sent in the header \`${csrfHeader}\` of every POST and DELETE.`,
    }),
    expiresAt: z.string().meta({ description: "When the session ends, RFC 3339." }),
    namespaces: z
      .array(z.string())
      .meta({ description: "The workspaces that the user may see something of, sorted." }),
    hub: z.object({ version: z.string(), replica: z.string() }),
  })
  .meta({ title: "Session" });

export const loginSchema = z.union([
  z.strictObject({
    token: z.string().min(1).max(16_384).meta({ description: "A token of the hub's API server." }),
  }),
  z.strictObject({
    code: z
      .string()
      .min(16)
      .max(128)
      .meta({ description: "The code in a link of `flotilla dashboard`; it is valid once." }),
  }),
]);

export const problemSchema = z
  .object({
    code: z.string().meta({ description: "As in docs/errors.md." }),
    message: z.string(),
  })
  .meta({ title: "Problem" });

/** For the login page, which has no session. */
export const loginMethodsSchema = z.object({
  methods: z.array(z.enum(["token", "oidc"])),
  failure: problemSchema
    .optional()
    .meta({ description: "Why this browser's last login with `oidc` failed, for a minute." }),
  hub: z.object({ version: z.string() }),
});

export type Session = Readonly<z.infer<typeof sessionSchema>>;
export type LoginMethods = Readonly<z.infer<typeof loginMethodsSchema>>;
export type Problem = Readonly<z.infer<typeof problemSchema>>;
