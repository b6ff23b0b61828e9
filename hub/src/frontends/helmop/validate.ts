/** Validation of the releases of HelmOps and of Bundles by hand, beyond what the schema of the CRD can check. Pure. */

import {
  type BundleDeploymentOptions,
  type BundleTarget,
  bundleStates,
} from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { classifySource } from "@flotilla/shared/source";
import { hubErrors } from "../../base/index.ts";
import {
  chartReferenceOf,
  createDriftBudget,
  customizationsOf,
  dependencyCountProblem,
  driftOptionsProblem,
  mayReferenceChart,
  type PlannedRelease,
  type ReleaseSpec,
  reservedFormProblem,
  selectorProblem,
  stagesProblem,
  strategyProblem,
  targetCountProblem,
} from "../../rules/index.ts";
import { actionOptionsProblem } from "./action-options.ts";
import { createCheckedTexts } from "./checked-texts.ts";
import { healthCheckProblem, readyExprProblem } from "./expressions.ts";
import { fluxFieldProblem } from "./flux-fields.ts";
import { postRendererProblem } from "./post-renderers.ts";

/** The name is a label's value on BundleDeployments and releases. */
const longestName = 63;

const states: ReadonlySet<string> = new Set(bundleStates);

/** The first thing that is wrong, and what to change; undefined when the release can be deployed. */
export function validate(release: PlannedRelease): AppError | undefined {
  const { spec, metadata, source } = release;
  if (isEmpty(spec.helm)) {
    return new AppError(
      hubErrors.HELMOP_INVALID,
      "spec.helm is empty: name a chart with helm.repo and helm.chart",
    );
  }
  if (metadata.name.length > longestName) {
    return new AppError(
      hubErrors.HELMOP_INVALID,
      `the name ${metadata.name} has ${metadata.name.length} characters, and the names that are made from it can have ${longestName}; create the ${release.kind} again under a shorter name`,
    );
  }
  const tooMany =
    targetCountProblem("spec.targets", spec.targets) ??
    targetCountProblem("spec.targetRestrictions", spec.targetRestrictions) ??
    dependencyCountProblem(spec.dependsOn);
  if (tooMany !== undefined) return new AppError(hubErrors.HELMOP_INVALID, tooMany);
  const reserved = reservedFormProblem(spec, source.secretName);
  if (reserved !== undefined) return new AppError(hubErrors.HELMOP_INVALID, reserved);
  const location = classifySource(spec.helm);
  if (location instanceof AppError) return location;
  const wrongTarget = targetProblem(release);
  if (wrongTarget !== undefined) return new AppError(hubErrors.HELMOP_INVALID, wrongTarget);
  const wrongRestriction = restrictionProblem(release);
  if (wrongRestriction !== undefined)
    return new AppError(hubErrors.HELMOP_INVALID, wrongRestriction);
  const wrongRollout =
    strategyProblem(spec.rolloutStrategy) ?? stagesProblem(spec) ?? customizationProblem(release);
  if (wrongRollout !== undefined) return new AppError(hubErrors.HELMOP_INVALID, wrongRollout);
  const wrongDependency = dependencyProblem(release);
  if (wrongDependency !== undefined) return new AppError(hubErrors.HELMOP_INVALID, wrongDependency);

  const wrongSource = sourceProblem(release);
  return wrongSource === undefined
    ? undefined
    : new AppError(hubErrors.HELMOP_INVALID, wrongSource);
}

/** The API server accepts an object without fields; one that has others and no chart it rejects. */
function isEmpty(helm: ReleaseSpec["helm"]): helm is null | undefined {
  if (helm === undefined || helm === null) return true;
  return Object.values(helm).every(
    (value) => value === undefined || value === null || value === "",
  );
}

function targetProblem({ spec }: PlannedRelease): string | undefined {
  const own = chartReferenceOf(spec.helm ?? {});
  for (const [index, target] of (spec.targets ?? []).entries()) {
    const source = mayReferenceChart(target)
      ? classifySource(chartReferenceOf(target.helm ?? {}, own))
      : undefined;
    if (source instanceof AppError)
      return `spec.targets[${index}], with what it takes from spec.helm: ${source.message}`;
    const problem = criteriaProblem(target);
    if (problem !== undefined) return `spec.targets[${index}].${problem}`;
  }
  return undefined;
}

function criteriaProblem(
  criteria: Pick<BundleTarget, "clusterSelector" | "clusterGroupSelector">,
): string | undefined {
  for (const field of ["clusterSelector", "clusterGroupSelector"] as const) {
    const problem = selectorProblem(criteria[field] ?? {});
    if (problem !== undefined) return `${field} cannot be used: ${problem}`;
  }
  return undefined;
}

/** What limits a deployment must not be ignored. */
function restrictionProblem({ spec }: PlannedRelease): string | undefined {
  for (const [index, restriction] of (spec.targetRestrictions ?? []).entries()) {
    const problem = criteriaProblem(restriction);
    if (problem !== undefined) return `spec.targetRestrictions[${index}].${problem}`;
  }
  for (const [path, { allowedTargetNamespaceSelector: selector }] of optionsWithPaths(spec)) {
    const problem = selectorProblem(selector ?? {});
    if (problem !== undefined)
      return `${path}.allowedTargetNamespaceSelector cannot be used: ${problem}`;
  }
  return undefined;
}

/** Options of several targets are merged then, and a chart is resolved for each target alone. */
function customizationProblem({ spec }: PlannedRelease): string | undefined {
  if (spec.targetCustomizationMode !== "AllMatches" || customizationsOf(spec).length === 0)
    return undefined;
  const index = (spec.targets ?? []).findIndex(
    ({ helm }) => helm?.chart || helm?.repo || helm?.version,
  );
  return index < 0
    ? undefined
    : `spec.targets[${index}].helm names a chart, and with targetCustomizationMode AllMatches all clusters have the chart of spec.helm: remove chart, repo and version there, or use FirstMatch`;
}

/** The options of the release itself and of its targets. */
function optionsWithPaths(
  spec: ReleaseSpec,
): readonly (readonly [path: string, options: BundleDeploymentOptions])[] {
  return [
    ["spec", spec],
    ...(spec.targets ?? []).map((target, index) => [`spec.targets[${index}]`, target] as const),
  ];
}

function dependencyProblem({ metadata, spec }: PlannedRelease): string | undefined {
  for (const [index, dependency] of (spec.dependsOn ?? []).entries()) {
    const { name, selector, acceptedStates } = dependency;
    const path = `spec.dependsOn[${index}]`;
    if (!name && !selector) return `${path} is empty: set name or selector`;
    if (name === metadata.name)
      return `${path} is the HelmOp itself, which would never become ready; remove it`;
    const wrongSelector = selectorProblem(selector ?? {});
    if (wrongSelector !== undefined) return `${path}.selector cannot be used: ${wrongSelector}`;
    const unknown = acceptedStates?.find((state) => !states.has(state));
    if (unknown !== undefined)
      return `${path}.acceptedStates has ${JSON.stringify(unknown)}, which is none of ${bundleStates.join(", ")}`;
  }
  const wrongExpression = readyExprProblem(spec.dependsOn ?? [], createCheckedTexts());
  return wrongExpression === undefined ? undefined : `spec.${wrongExpression}`;
}

/** Validates every option that the release itself and its targets may have. */
function sourceProblem({ spec }: PlannedRelease): string | undefined {
  const [patches, expressions] = [createCheckedTexts(), createCheckedTexts()];
  const rules = createDriftBudget();
  for (const [path, options] of optionsWithPaths(spec)) {
    const problem =
      copyProblem(options) ??
      valuesProblem(options) ??
      fluxFieldProblem(options) ??
      actionOptionsProblem(options, path === "spec" ? undefined : spec) ??
      postRendererProblem(options, patches) ??
      healthCheckProblem(options, expressions) ??
      driftOptionsProblem(options, rules);
    if (problem !== undefined) return `${path}.${problem}`;
  }
  return undefined;
}

function copyProblem({ downstreamResources }: BundleDeploymentOptions): string | undefined {
  for (const [index, { kind = "", name = "" }] of (downstreamResources ?? []).entries()) {
    const path = `downstreamResources[${index}]`;
    if (!/^(secret|configmap)$/i.test(kind))
      return `${path}.kind is ${JSON.stringify(kind)}; only a Secret or a ConfigMap can be copied`;
    if (name === "") return `${path} has no name: set the name of the ${kind} to copy`;
  }
  return undefined;
}

function valuesProblem({ helm }: BundleDeploymentOptions): string | undefined {
  for (const [index, { configMapKeyRef, secretKeyRef }] of (helm?.valuesFrom ?? []).entries()) {
    const path = `helm.valuesFrom[${index}]`;
    if (!configMapKeyRef && !secretKeyRef)
      return `${path} is empty: set configMapKeyRef or secretKeyRef`;
    for (const [field, reference] of Object.entries({ configMapKeyRef, secretKeyRef })) {
      if (reference && !reference.name)
        return `${path}.${field} has no name: set the name of the object to read`;
    }
  }
  return undefined;
}
