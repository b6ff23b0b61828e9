/** What keeps the rollout of a dependency from going on, for the rollout whose clusters wait for it. Pure. */
import type { Bundle, RolloutStrategy } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { stagesOf } from "../../rules/index.ts";

/** The rollouts of a namespace that the hub made, and the Bundles that they are for. */
export interface Neighbours {
  readonly rollouts: readonly BundleRollout[];
  readonly bundleNamed: (name: string) => Bundle | undefined;
  readonly strategyOf: (bundle: Bundle) => RolloutStrategy | undefined;
}

/**
 * `own`: the rollout that waits. `dependency`: a deployment's name, which is its Bundle's in the same namespace. Undefined: that one is
 * not rolled out in stages, or nothing keeps it.
 */
export function dependencyProblem(
  { rollouts, bundleNamed, strategyOf }: Neighbours,
  own: Pick<BundleRollout, "spec">,
  dependency: string,
): string | undefined {
  const newest = rollouts
    .filter(({ spec }) => spec.bundle.name === dependency)
    .toSorted((a, b) => a.spec.number - b.spec.number)
    .at(-1);
  const bundle = bundleNamed(dependency);
  if (newest?.status === undefined || bundle?.metadata.uid !== newest.spec.bundle.uid)
    return undefined;
  const { phase, reason } = newest.status;
  const { kind, name } = newest.spec.app;
  if (phase === "Halted")
    return `the rollout ${newest.metadata.name} of the ${kind} ${name} is halted`;
  const isMutual = bundle.spec.dependsOn?.some((each) => each.name === own.spec.bundle.name);
  if (reason === "DependencyNotReady" && isMutual === true)
    return `the ${kind} ${name} depends on this app, too, so neither rollout goes on: remove one of them from a dependsOn`;
  const gate = gateFor(newest, strategyOf(bundle), own);
  return gate === undefined
    ? undefined
    : `the rollout ${newest.metadata.name} of the ${kind} ${name} waits for this one by its gate ${gate}, so neither goes on: remove the gate, or the dependency`;
}

/** The name of a gate that waits for this rollout. */
function gateFor(
  { status }: BundleRollout,
  strategy: RolloutStrategy | undefined,
  { spec: { app } }: Pick<BundleRollout, "spec">,
): string | undefined {
  const waiting = (status?.stages ?? []).flatMap(({ name, gates = [] }) =>
    gates
      .filter(({ type, result }) => type === "Rollout" && result === "Waiting")
      .map((record) => [name, record.name] as const),
  );
  const found = waiting.find(([stage, gate]) => {
    const { before = [], after = [] } =
      stagesOf(strategy ?? {}).find(({ name }) => name === stage) ?? {};
    const awaited = [...before, ...after].find(({ name }) => name === gate)?.rollout;
    return awaited?.kind === app.kind && awaited.name === app.name;
  });
  return found?.[1];
}
