/** What is changed in the rendered objects of a release before they are installed, as a content has it. */
import * as z from "zod";
import { objectTargetSchema } from "./drift.ts";

const text = z.string().optional();

export const postRenderersSchema = z.array(
  z.object({
    patches: z
      .array(
        z.object({
          patch: z.string(),
          /** Absent: the object that the patch names. */
          target: objectTargetSchema.optional(),
        }),
      )
      .optional(),
    images: z
      .array(z.object({ name: z.string(), newName: text, newTag: text, digest: text }))
      .optional(),
  }),
);

export const commonMetadataSchema = z.object({
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
