/** A CustomResourceDefinition of a chart as it is written into the cluster. Pure. */
import type { CustomResourceDefinition } from "@flotilla/shared/kube/objects";
import { releaseLabels } from "../cli/release-record.ts";

/** The `spec` is the chart's; labels and annotations that others have added stay. */
export function desiredCrd(
  crd: CustomResourceDefinition,
  live: CustomResourceDefinition | undefined,
  owner: string,
): CustomResourceDefinition {
  const { name, labels, annotations } = crd.metadata;
  return {
    ...crd,
    metadata: {
      ...live?.metadata,
      name,
      labels: { ...live?.metadata.labels, ...labels, [releaseLabels.deployment]: owner },
      annotations: { ...live?.metadata.annotations, ...annotations },
    },
    spec: withCaBundle(crd.spec, live?.spec),
  };
}

type Spec = CustomResourceDefinition["spec"];

/** Others, such as cert-manager, write the authority of a conversion webhook into the definition. */
function withCaBundle(spec: Spec, live: Spec | undefined): Spec {
  const { conversion } = spec;
  const { webhook } = conversion ?? {};
  const caBundle = live?.conversion?.webhook?.clientConfig?.caBundle;
  if (conversion === undefined || webhook?.clientConfig === undefined) return spec;
  if (webhook.clientConfig.caBundle !== undefined || caBundle === undefined) return spec;
  const clientConfig = { ...webhook.clientConfig, caBundle };
  return { ...spec, conversion: { ...conversion, webhook: { ...webhook, clientConfig } } };
}

export function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (
    status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ??
    false
  );
}
