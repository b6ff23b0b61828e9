/** A request of a user to an agent, as the replica that has authenticated and authorized the user forwards it to another. Pure. */
import type { PlanOptions, RequestBody, UserRequestBody } from "@flotilla/proto";
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

/** Bytes are base64. */
const bytesSchema = z
  .base64()
  .transform((text): Uint8Array => new Uint8Array(Buffer.from(text, "base64")));

const planSchema = z.strictObject({
  kind: z.literal("plan"),
  deploymentId: z.string().min(1),
  content: bytesSchema.exactOptional(),
  key: bytesSchema,
  withText: z.boolean(),
  objects: z
    .array(
      z.strictObject({
        kind: z.enum(["Secret", "ConfigMap"]),
        name: z.string().min(1),
        packed: z.strictObject({ digest: z.string().min(1), content: bytesSchema }).exactOptional(),
      }),
    )
    .readonly(),
}) satisfies z.ZodType<{ readonly kind: "plan" } & PlanOptions>;

const userBodySchema = z.discriminatedUnion("kind", [
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
  body: z.union([userBodySchema, planSchema]) satisfies z.ZodType<RequestBody>,
});

export type ForwardedRequest = Readonly<z.infer<typeof forwardedRequestSchema>>;

/** As it is sent. */
export function forwardedJson({ body, ...request }: ForwardedRequest): string {
  return JSON.stringify({ ...request, body: body.kind === "plan" ? encoded(body) : body });
}

function encoded({ content, key, objects, ...plan }: PlanOptions): unknown {
  return {
    ...plan,
    ...(content !== undefined && { content: base64(content) }),
    key: base64(key),
    objects: objects.map(({ packed, ...ref }) => ({
      ...ref,
      ...(packed && { packed: { digest: packed.digest, content: base64(packed.content) } }),
    })),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
