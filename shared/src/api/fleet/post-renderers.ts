/**
 * What is changed in the objects that a chart renders, before they are installed: `postRenderers` and `commonMetadata` of Flux's
 * HelmRelease v2, with its names and its validation, for a HelmOp, a Bundle and each target.
 */
import * as z from "zod";
import { described, fields, text, texts } from "./field.ts";
import { objectTargetSchema } from "./object-target.ts";

/** More are more runs of kustomize in each installation and upgrade. */
const maxPostRenderers = 32;

const patchSchema = fields({
  patch: described(
    z.string(),
    "A strategic merge patch, or a JSON patch (RFC 6902), which needs a `target`: YAML or JSON.",
  ),
  target: described(
    objectTargetSchema.nullish(),
    "The objects to patch: those that match all fields. Regular expressions match the whole text.",
    { "x-default-text": "the object that the strategic merge patch names, which must exist" },
  ),
});

const imageSchema = fields({
  name: described(z.string(), "The image to replace, without tag and digest."),
  newName: text("The name to use instead."),
  newTag: text("The tag to use instead."),
  digest: text(
    "The digest to use instead of a tag, such as `sha256:…`; it takes precedence over `newTag`.",
  ),
});

const postRendererSchema = fields(
  {
    kustomize: described(
      fields({
        patches: described(z.array(patchSchema).nullish(), "Patches, applied in this order."),
        images: described(
          z.array(imageSchema).nullish(),
          "Images of containers to replace, after the patches.",
        ),
      }).nullish(),
      "Changes by kustomize.",
    ),
  },
  "PostRenderer",
);

const commonMetadataSchema = fields({
  labels: texts("Labels of all objects. Those that select pods are not changed."),
  annotations: texts("Annotations of all objects."),
});

/** The fields, for the options of a deployment. */
export const postRendererFields = {
  postRenderers: described(
    z.array(postRendererSchema).max(maxPostRenderers).nullish(),
    "Changes of the objects that the chart renders, hooks included, one after the other. A change of them upgrades the release.",
  ),
  commonMetadata: described(
    commonMetadataSchema.nullish(),
    "Labels and annotations that are set on all objects that the chart renders, hooks included, after all `postRenderers`. A change of them upgrades the release.",
  ),
} as const;
