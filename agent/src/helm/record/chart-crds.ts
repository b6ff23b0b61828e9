/** The CustomResourceDefinitions in the folders `crds` of a chart and its subcharts, from `helm template --include-crds`. Pure. */
import type { CustomResourceDefinition } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import type { ReadYamlDocument } from "./manifest.ts";

const definitionSchema = z.looseObject({
  apiVersion: z.string().startsWith("apiextensions.k8s.io/"),
  kind: z.literal("CustomResourceDefinition"),
  metadata: z.looseObject({
    name: z.string().min(1),
    labels: z.record(z.string(), z.string()).nullish(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  spec: z.looseObject({}),
});

/** The API server validates the rest. */
export const chartCrdSchema = z.custom<CustomResourceDefinition>(
  (value) => definitionSchema.safeParse(value).success,
);

/** Other objects in those folders are left out, as in Flux. */
export function chartCrds(
  rendered: string,
  read: ReadYamlDocument,
): readonly CustomResourceDefinition[] {
  let isInFolder = false;
  return rendered.split(/^---.*$/m).flatMap((document) => {
    // A file may have several documents, of which Helm names the source of the first one.
    const [, source] = /^# Source: (\S+)$/m.exec(document) ?? [];
    if (source !== undefined)
      isInFolder = /(^|\/)crds\//.test(source) && !/(^|\/)templates\//.test(source);
    if (!isInFolder) return [];
    const parsed = chartCrdSchema.safeParse(read(document));
    return parsed.success ? [parsed.data] : [];
  });
}
