/** A request of a user to an agent, as the replica that has authenticated and authorized the user forwards it to another. Pure. */
import type { UserRequestBody } from "@flotilla/proto";
import * as z from "zod";

const logSchema = z.strictObject({
  kind: z.literal("log"),
  pod: z.string().exactOptional(),
  container: z.string().exactOptional(),
  tailLines: z.int(),
  sinceSeconds: z.int().exactOptional(),
  previous: z.boolean(),
  tests: z.boolean(),
});

const bodySchema = z.discriminatedUnion("kind", [
  logSchema,
  z.strictObject({ kind: z.literal("diff") }),
  z.strictObject({ kind: z.enum(["history", "resources", "events"]) }),
  z.strictObject({
    kind: z.literal("values"),
    target: z.string(),
    targetPaths: z.array(z.string()).readonly(),
  }),
]) satisfies z.ZodType<UserRequestBody>;

export const forwardedRequestSchema = z.strictObject({
  /** For the limit of requests in progress, and the log. */
  username: z.string().min(1),
  /** `NAMESPACE/NAME` of the Cluster. */
  cluster: z.string().min(1),
  deployment: z.strictObject({ name: z.string().min(1), uid: z.string() }),
  body: bodySchema,
});

export type ForwardedRequest = Readonly<z.infer<typeof forwardedRequestSchema>>;
