/**
 * The runs of kustomize that a release needs: one for each post-renderer, in order, and the last for the common metadata. Each
 * has what the content says, and nothing that would make kustomize read other files, run programs or use the network. Pure.
 */
import type { DeploymentContent } from "@flotilla/shared/content";
import * as z from "zod";

const kustomizationSchema = z.looseObject({
  patches: z
    .array(
      z.looseObject({ patch: z.string(), target: z.record(z.string(), z.unknown()).optional() }),
    )
    .optional(),
});

/** Fields of a kustomization, without its resources. */
export type Kustomization = z.infer<typeof kustomizationSchema>;

export const renderStepSchema = z.object({
  /** The field of the content, for messages. */
  field: z.string(),
  kustomization: kustomizationSchema,
});

/** One run of kustomize. */
export type RenderStep = z.infer<typeof renderStepSchema>;

/** None: what Helm renders is installed as it is. */
export function renderSteps({
  postRenderers = [],
  commonMetadata = {},
  originLabels = [],
}: Pick<
  DeploymentContent,
  "postRenderers" | "commonMetadata" | "originLabels"
>): readonly RenderStep[] {
  const steps: RenderStep[] = postRenderers.map(({ patches, images }, index) => ({
    field: `postRenderers[${index}]`,
    kustomization: { ...(patches && { patches }), ...(images && { images }) },
  }));
  const { annotations } = commonMetadata;
  const asked = Object.entries(commonMetadata.labels ?? {}).filter(
    ([name]) => !originLabels.includes(name),
  );
  const labels = asked.length === 0 ? undefined : Object.fromEntries(asked);
  if (labels === undefined && annotations === undefined) return steps;
  const kustomization = {
    ...(labels && {
      labels: [{ pairs: labels, includeSelectors: false, includeTemplates: false }],
    }),
    ...(annotations && { transformers: [annotationsTransformer(annotations)] }),
  };
  return [...steps, { field: "commonMetadata", kustomization }];
}

/** Kustomize's own `commonAnnotations` would also change the templates of pods, and so restart them. */
function annotationsTransformer(annotations: Readonly<Record<string, string>>): string {
  return JSON.stringify({
    apiVersion: "builtin",
    kind: "AnnotationsTransformer",
    metadata: { name: "common-annotations" },
    annotations,
    fieldSpecs: [{ path: "metadata/annotations", create: true }],
  });
}

/** The file `kustomization.yaml` as JSON, for one file of resources. */
export function kustomizationFile(kustomization: Kustomization, resources: string): string {
  return JSON.stringify({
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: [resources],
    // The order of Helm.
    sortOptions: { order: "fifo" },
    ...kustomization,
  });
}
