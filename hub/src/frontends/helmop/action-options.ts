/** Validation of Flux's options of actions, of a HelmOp and of its targets. Pure. */
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { mergeOptions, releaseNamespace } from "../../rules/index.ts";

/** `base`: of the HelmOp, when the options are a target's. */
export function actionOptionsProblem(
  options: BundleDeploymentOptions,
  base: BundleDeploymentOptions = {},
): string | undefined {
  return (
    retryIntervalProblem(options) ??
    storageNamespaceProblem(mergeOptions(namespacesOf(base), namespacesOf(options)))
  );
}

/** Without values: merging those for each target takes long. */
function namespacesOf({
  namespace,
  defaultNamespace,
  storageNamespace,
}: BundleDeploymentOptions): BundleDeploymentOptions {
  return {
    ...(namespace !== undefined && { namespace }),
    ...(defaultNamespace !== undefined && { defaultNamespace }),
    ...(storageNamespace !== undefined && { storageNamespace }),
  };
}

function retryIntervalProblem(options: BundleDeploymentOptions): string | undefined {
  for (const action of ["install", "upgrade"] as const) {
    const strategy = options[action]?.strategy;
    if (strategy?.retryInterval && strategy.name !== "RetryOnFailure")
      return `${action}.strategy.retryInterval can only be set with the name RetryOnFailure: with ${strategy.name} a new attempt follows the remediation`;
  }
  return undefined;
}

/** Helm's command line has one namespace for the objects and the records. */
function storageNamespaceProblem(options: BundleDeploymentOptions): string | undefined {
  const { storageNamespace } = options;
  const namespace = releaseNamespace(options);
  return !storageNamespace || storageNamespace === namespace
    ? undefined
    : `storageNamespace is ${storageNamespace}, but Helm keeps the records of a release in the namespace of the release, ${namespace}: remove it`;
}
