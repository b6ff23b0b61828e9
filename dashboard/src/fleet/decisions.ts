/** Apps whose rollout goes on only when somebody decides. Pure. */
import type { App } from "@flotilla/shared/dashboard";
import type { FleetState } from "./fleet-state.ts";

export interface AwaitedDecision {
  readonly app: Pick<App, "kind" | "namespace" | "name">;
  /** What is waited for. */
  readonly message: string;
  /** RFC 3339; undefined: not known. */
  readonly since: string | undefined;
}

/** Those that have waited longest first. */
export function decisionsOf({ apps }: Pick<FleetState, "apps">): readonly AwaitedDecision[] {
  return [...apps.values()]
    .flatMap(({ kind, namespace, name, rollout }) => {
      if (rollout?.decides !== true) return [];
      const { message, since } = rollout;
      return [{ app: { kind, namespace, name }, message, since }];
    })
    .toSorted((one, other) => byStart(one, other) || one.app.name.localeCompare(other.app.name));
}

/** What began at an unknown time comes last. */
function byStart(one: AwaitedDecision, other: AwaitedDecision): number {
  const [a, b] = [startMs(one), startMs(other)];
  return a === b ? 0 : a - b;
}

function startMs({ since }: AwaitedDecision): number {
  return since === undefined ? Number.POSITIVE_INFINITY : Date.parse(since);
}
