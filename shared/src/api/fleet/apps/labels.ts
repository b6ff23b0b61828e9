/** Labels and finalizers of apps. They are exported with the other names (`api/names`). */

/** On a Bundle and its BundleDeployments: the HelmOp. */
export const helmOpLabel = "fleet.cattle.io/fleet-helm-name";
/** On a Bundle and its BundleDeployments: the HelmRelease. */
export const helmReleaseLabel = "flotilla.dev/helm-release";

/** Labels that say for which HelmRelease something was made, as in Flux: its name and its namespace. */
export const fluxOwnerLabels = {
  name: "helm.toolkit.fluxcd.io/name",
  namespace: "helm.toolkit.fluxcd.io/namespace",
} as const;

/** The finalizer of Flux's controllers, on sources and HelmReleases. */
export const fluxFinalizer = "finalizers.fluxcd.io";
export const helmOpFinalizer = "fleet.cattle.io/helmop-finalizer";
export const bundleFinalizer = "fleet.cattle.io/bundle-finalizer";
