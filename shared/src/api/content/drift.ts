/** What is done about drift, and what does not count as drift, as a content has it. */
import * as z from "zod";

const text = z.string().optional();

/** See ObjectTarget of shared/src/kubernetes/selector. */
export const objectTargetSchema = z.object({
  group: text,
  version: text,
  kind: text,
  name: text,
  namespace: text,
  labelSelector: text,
  annotationSelector: text,
});

export const driftSchema = z.object({
  /** Absent: `warn`. */
  mode: z.enum(["disabled", "warn", "enabled"]).optional(),
  /** Objects that cannot be changed back are deleted and recreated. */
  force: z.boolean().optional(),
  /** What is neither compared nor corrected. */
  ignore: z
    .array(
      z.object({
        /** JSON pointers; "": the whole object. */
        paths: z.array(z.string()),
        /** Absent: all objects. */
        target: objectTargetSchema.optional(),
      }),
    )
    .optional(),
});

export type DriftContent = Readonly<z.infer<typeof driftSchema>>;
