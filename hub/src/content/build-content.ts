/** From merged options and a pin to the content that clusters get. Pure. */
import type { BundleDeploymentOptions } from "@flotilla/shared/api/bundle-deployment-options.ts";
import { helmReleaseName } from "@flotilla/shared/api/names.ts";
import type { Pin } from "@flotilla/shared/charts/pin.ts";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";

/** Where a release goes when neither `namespace` nor `defaultNamespace` is set, as in Fleet. */
const namespaceOfLastResort = "default";

/** Fleet's own default, less than Helm's ten: every release record is a Secret in the cluster's etcd. */
const defaultMaxHistory = 2;

export interface ContentSource {
  readonly bundleName: string;
  readonly options: BundleDeploymentOptions;
  readonly pin: Pin;
  readonly insecureSkipVerify: boolean;
}

export function buildContent({
  bundleName,
  options,
  pin,
  insecureSkipVerify,
}: ContentSource): DeploymentContent {
  const helm = options.helm ?? {};
  const values = helm.values ?? undefined;
  const maxHistory = helm.maxHistory ?? 0;
  return {
    format: 1,
    pin,
    releaseName: orElse(helm.releaseName, helmReleaseName(bundleName)),
    namespace: orElse(options.namespace, orElse(options.defaultNamespace, namespaceOfLastResort)),
    createNamespace: options.createNamespace ?? true,
    ...(values !== undefined && Object.keys(values).length > 0 && { values }),
    helm: {
      timeoutSeconds: Math.max(0, helm.timeoutSeconds ?? 0),
      atomic: helm.atomic ?? false,
      force: helm.force ?? false,
      takeOwnership: helm.takeOwnership ?? false,
      waitForJobs: helm.waitForJobs ?? false,
      disableDNS: helm.disableDNS ?? false,
      skipSchemaValidation: helm.skipSchemaValidation ?? false,
      maxHistory: maxHistory > 0 ? maxHistory : defaultMaxHistory,
    },
    access: { insecureSkipVerify },
    keepResources: options.keepResources ?? false,
  };
}

function orElse(text: string | null | undefined, fallback: string): string {
  return text === undefined || text === null || text === "" ? fallback : text;
}
