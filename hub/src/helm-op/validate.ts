/** What the hub refuses of a HelmOp beyond what its schema refuses at apply. Pure. */

import type { BundleDeploymentOptions } from "@flotilla/shared/api/bundle-deployment-options.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { bundleStates } from "@flotilla/shared/api/summary.ts";
import { classifySource } from "@flotilla/shared/charts/source.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { hubErrors } from "../errors.ts";
import { selectorProblem } from "../target/selector-problem.ts";
import { deploys, wantedBy } from "./plan-bundle.ts";

/** The name is a label's value on BundleDeployments and releases. */
const longestName = 63;

const states: ReadonlySet<string> = new Set(bundleStates);

/** The first thing that is wrong, as a sentence that says what to change; undefined when the HelmOp can be carried out. */
export function refusalOf(helmOp: HelmOp): AppError | undefined {
  const { spec } = helmOp;
  if (spec.helm === undefined || spec.helm === null) {
    return new AppError(
      hubErrors.HELMOP_INVALID,
      "spec.helm is empty: name a chart with helm.repo and helm.chart",
    );
  }
  if (helmOp.metadata.name.length > longestName) {
    return new AppError(
      hubErrors.HELMOP_INVALID,
      `the name ${helmOp.metadata.name} has ${helmOp.metadata.name.length} characters, and what is made from it can have ${longestName}; make the HelmOp anew under a shorter name`,
    );
  }
  const source = classifySource(spec.helm);
  if (source instanceof AppError) return source;
  const wrongTarget = targetProblem(helmOp);
  if (wrongTarget !== undefined) return new AppError(hubErrors.HELMOP_INVALID, wrongTarget);
  const wrongDependency = dependencyProblem(helmOp);
  if (wrongDependency !== undefined) return new AppError(hubErrors.HELMOP_INVALID, wrongDependency);

  const unsupported = [
    ...unsupportedOptions(spec, "spec"),
    ...(spec.targets ?? []).flatMap((target, index) =>
      unsupportedOptions(target, `spec.targets[${index}]`),
    ),
  ];
  if (unsupported.length === 0) return undefined;
  const [verb, what] = unsupported.length === 1 ? ["is", "it"] : ["are", "them"];
  return new AppError(
    hubErrors.NOT_SUPPORTED,
    `${unsupported.join(", ")} ${verb} not carried out by this version of Flotilla; remove ${what} to have the chart installed without`,
  );
}

function targetProblem({ spec }: HelmOp): string | undefined {
  const own = wantedBy(spec.helm ?? {});
  for (const [index, target] of (spec.targets ?? []).entries()) {
    const source = deploys(target) ? classifySource(wantedBy(target.helm ?? {}, own)) : undefined;
    if (source instanceof AppError)
      return `spec.targets[${index}], with what it takes from spec.helm: ${source.message}`;
    for (const field of ["clusterSelector", "clusterGroupSelector"] as const) {
      const problem = selectorProblem(target[field] ?? {});
      if (problem !== undefined)
        return `spec.targets[${index}].${field} cannot be used: ${problem}`;
    }
  }
  return undefined;
}

function dependencyProblem({ metadata, spec }: HelmOp): string | undefined {
  for (const [index, dependency] of (spec.dependsOn ?? []).entries()) {
    const { name, selector, acceptedStates } = dependency;
    const path = `spec.dependsOn[${index}]`;
    if (!name && !selector) return `${path} says nothing to wait for: give it a name or a selector`;
    if (name === metadata.name)
      return `${path} is the HelmOp itself, which would wait for ever; take it away`;
    const wrongSelector = selectorProblem(selector ?? {});
    if (wrongSelector !== undefined) return `${path}.selector cannot be used: ${wrongSelector}`;
    const unknown = acceptedStates?.find((state) => !states.has(state));
    if (unknown !== undefined)
      return `${path}.acceptedStates has ${JSON.stringify(unknown)}, which is none of ${bundleStates.join(", ")}`;
  }
  return undefined;
}

function unsupportedOptions(options: BundleDeploymentOptions, path: string): string[] {
  const { helm } = options;
  const fields: readonly (readonly [string, unknown])[] = [
    ["helm.valuesFrom", helm?.valuesFrom],
    ["helm.templateValues", helm?.templateValues],
    ["downstreamResources", options.downstreamResources],
  ];
  const used = fields.filter(([, value]) => isSet(value)).map(([field]) => `${path}.${field}`);
  return helm?.disablePreProcess !== true && hasTemplate(helm?.values)
    ? [...used, `${path}.helm.values with \${ } templates`]
    : used;
}

function hasTemplate(value: unknown): boolean {
  if (typeof value === "string") return value.includes("${");
  if (Array.isArray(value)) return value.some(hasTemplate);
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([name, inner]) => name.includes("${") || hasTemplate(inner))
  );
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== "object" || Object.keys(value).length > 0;
}
