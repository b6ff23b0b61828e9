/**
 * What the stages of a strategy name and what cannot be waited for as it is now: Schedules that do not exist, and apps of gates. A rollout
 * says it once a stage waits for it, which may be weeks later; these remarks are for the author of the strategy, at once and with the field.
 */
import type { Bundle, RolloutStage, Schedule } from "@flotilla/shared/api";
import { maxNamed } from "@flotilla/shared/api/rollout";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { AwaitedApps } from "./awaited-apps.ts";
import type { RolloutStrategies } from "./rollout-strategies.ts";
import { isStaged, stagesOf } from "./stages.ts";
import { strategyField } from "./strategy-field.ts";

export interface MissingReferences {
  /** A sentence for each field of a Bundle's strategy, ten at most. It is accepted all the same: what is missing may come later. */
  remarksOn(bundle: Bundle): readonly string[];
}

export interface MissingReferencesDeps {
  readonly schedules: Pick<Store<Schedule>, "get">;
  readonly strategies: Pick<RolloutStrategies, "strategyOf">;
  readonly awaited: Pick<AwaitedApps, "problemOf">;
}

/** A field of a stage that names something. */
type Reference = { readonly field: string } & (
  | { readonly schedule: string; readonly effect: string }
  | { readonly app: Parameters<AwaitedApps["problemOf"]>[1] }
);

export function createMissingReferences(deps: MissingReferencesDeps): MissingReferences {
  const { schedules, strategies, awaited } = deps;

  function problemOf(namespace: string, reference: Reference): string | undefined {
    if ("app" in reference) {
      const problem = awaited.problemOf(namespace, reference.app);
      return problem === undefined ? undefined : `cannot pass: ${problem}`;
    }
    const { schedule: name, effect } = reference;
    const found = schedules.get(keyOf({ namespace, name }));
    return found !== undefined && found.metadata.deletionTimestamp === undefined
      ? undefined
      : `is ${name}, and there is no Schedule ${name} in namespace ${namespace}: create it, or change the field; until then ${effect}`;
  }

  return {
    remarksOn(bundle) {
      const strategy = strategies.strategyOf(bundle);
      if (!isStaged(strategy)) return [];
      const { namespace = "" } = bundle.metadata;
      const remarks = stagesOf(strategy)
        .flatMap((stage, index) => referencesIn(stage, `stages[${index}]`))
        .flatMap((reference) => {
          const problem = problemOf(namespace, reference);
          return problem === undefined
            ? []
            : [`${strategyField(bundle, reference.field)} ${problem}`];
        });
      const more = remarks.length - maxNamed;
      return [
        ...remarks.slice(0, maxNamed),
        ...(more > 0 ? [`${more} more fields of the strategy name what is not there`] : []),
      ];
    },
  };
}

function referencesIn(
  { windows = [], before = [], after = [] }: RolloutStage,
  path: string,
): readonly Reference[] {
  const ofWindows = windows.flatMap(({ schedule, deny }, index): readonly Reference[] => {
    if (!schedule) return [];
    const effect = deny === true ? "it denies all changes" : "it permits none";
    return [{ field: `${path}.windows[${index}].schedule`, schedule, effect }];
  });
  const ofGates = Object.entries({ before, after }).flatMap(([when, gates]) =>
    gates.flatMap(({ window, rollout }, index): readonly Reference[] => {
      const gate = `${path}.${when}[${index}]`;
      if (rollout !== undefined) return [{ field: `${gate}.rollout`, app: rollout }];
      if (!window?.schedule) return [];
      const effect = "the gate does not pass";
      return [{ field: `${gate}.window.schedule`, schedule: window.schedule, effect }];
    }),
  );
  return [...ofWindows, ...ofGates];
}
