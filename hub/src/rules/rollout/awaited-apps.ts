/**
 * The apps whose rollouts the gates of others wait for: whether they can ever come so far. It decides from the Bundles and strategies that
 * there are. A stage waits for the one before it and for what its gates name; where that leads back to itself, it never ends.
 */
import type { Bundle, RolloutStrategy, StageGate } from "@flotilla/shared/api";
import { type AppKind, appInLabels } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { RolloutStrategies } from "./rollout-strategies.ts";
import { isStaged, stagesOf } from "./stages.ts";
import { strategyField } from "./strategy-field.ts";

/** What a gate waits for. */
export type AwaitedApp = NonNullable<StageGate["rollout"]>;

export interface AwaitedApps {
  /** Why an app of a namespace cannot come so far, and what to change; undefined: it can. */
  problemOf(namespace: string, app: AwaitedApp): string | undefined;
  /** The field of a Bundle's strategy by which it waits for itself, and through which apps; undefined: it does not. */
  cycleOf(bundle: Bundle): string | undefined;
}

export interface AwaitedAppsDeps {
  readonly bundles: Pick<Store<Bundle>, "get">;
  readonly strategies: Pick<RolloutStrategies, "strategyOf">;
}

interface App {
  readonly kind: AppKind;
  readonly name: string;
}

/** A gate of a stage that waits for another rollout, and where it is. */
interface RolloutGate {
  readonly field: string;
  readonly app: AwaitedApp;
}

/** A stage of an app; it has come so far when those before it have. */
interface Node {
  readonly app: App;
  readonly stage: number;
}

export function createAwaitedApps({ bundles, strategies }: AwaitedAppsDeps): AwaitedApps {
  function bundleOf(namespace: string, { kind, name }: App): Bundle | undefined {
    const found = bundles.get(keyOf({ namespace, name: bundleNameOf(kind, name) }));
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
    const own = appOf(found);
    return own.kind === kind && own.name === name ? found : undefined;
  }

  /** Undefined: there is no such app, or it has no stages. */
  function strategyOf(namespace: string, app: App): RolloutStrategy | undefined {
    const bundle = bundleOf(namespace, app);
    const strategy = bundle && strategies.strategyOf(bundle);
    return isStaged(strategy) ? strategy : undefined;
  }

  /** The apps from one stage to another that it waits for, both included; undefined: it does not wait for that. */
  function wayTo(namespace: string, target: Node, from: Node): readonly App[] | undefined {
    const ways: Way[] = [{ node: from, before: undefined }];
    const seen = new Set([idOf(from)]);
    for (const way of ways) {
      if (idOf(way.node) === idOf(target)) return appsOn(way);
      for (const node of nextOf(namespace, way.node)) {
        if (seen.has(idOf(node)) || seen.size >= mostFollowed) continue;
        seen.add(idOf(node));
        ways.push({ node, before: way });
      }
    }
    return undefined;
  }

  /** What has to come so far before a stage has. */
  function nextOf(namespace: string, { app, stage }: Node): readonly Node[] {
    const strategy = strategyOf(namespace, app);
    if (strategy === undefined) return [];
    const before = stage === 0 ? [] : [{ app, stage: stage - 1 }];
    return [...before, ...gatesIn(strategy, stage).map((gate) => nodeOf(namespace, gate.app))];
  }

  /** The last stage, where it waits for all, or for one that the app does not have. */
  function nodeOf(namespace: string, { kind, name, stage }: AwaitedApp): Node {
    const app = { kind, name };
    const stages = stagesOf(strategyOf(namespace, app) ?? {});
    const found = stages.findIndex((each) => each.name === stage);
    return { app, stage: found === -1 ? stages.length - 1 : found };
  }

  return {
    problemOf(namespace, { kind, name, stage }) {
      const bundle = bundleOf(namespace, { kind, name });
      if (bundle === undefined)
        return `there is no ${kind} ${name} in namespace ${namespace} that is deployed: create or correct it, or change the gate`;
      const strategy = strategies.strategyOf(bundle);
      if (!isStaged(strategy))
        return `the ${kind} ${name} has no stages, so nothing says when it is rolled out: give it stages, or remove the gate`;
      return !stage || stagesOf(strategy).some((each) => each.name === stage)
        ? undefined
        : `the ${kind} ${name} has no stage ${stage}: correct rollout.stage of the gate`;
    },
    cycleOf(bundle) {
      const strategy = strategies.strategyOf(bundle);
      if (!isStaged(strategy)) return undefined;
      const { namespace = "" } = bundle.metadata;
      const app = appOf(bundle);
      for (const [stage] of stagesOf(strategy).entries())
        for (const gate of gatesIn(strategy, stage)) {
          const way = wayTo(namespace, { app, stage }, nodeOf(namespace, gate.app));
          if (way !== undefined) return cycleText(bundle, gate.field, [app, ...way]);
        }
      return undefined;
    },
  };
}

/** Stages that are looked at for one gate. */
const mostFollowed = 1_000;

interface Way {
  readonly node: Node;
  readonly before: Way | undefined;
}

/** In order, and those that follow on themselves once. */
function appsOn(way: Way): readonly App[] {
  const apps: App[] = [];
  for (let at: Way | undefined = way; at !== undefined; at = at.before) apps.unshift(at.node.app);
  return apps;
}

function idOf({ app: { kind, name }, stage }: Node): string {
  return `${kind}/${name}/${stage}`;
}

function appOf({ metadata: { name, labels } }: Bundle): App {
  return appInLabels(labels) ?? { kind: "Bundle", name };
}

function gatesIn(strategy: RolloutStrategy, stage: number): readonly RolloutGate[] {
  const { before = [], after = [] } = stagesOf(strategy)[stage] ?? {};
  return Object.entries({ before, after }).flatMap(([when, gates]) =>
    gates.flatMap(({ rollout }, index) =>
      rollout === undefined
        ? []
        : [{ field: `stages[${stage}].${when}[${index}].rollout`, app: rollout }],
    ),
  );
}

function cycleText(bundle: Bundle, field: string, way: readonly App[]): string {
  const names = way.map(({ kind, name }) => `${kind} ${name}`);
  const hops = names.filter((name, index) => index === 0 || name !== names[index - 1]);
  const text =
    hops.length === 1
      ? `${hops[0]}, which it is a gate of`
      : hops.slice(1).join(", which waits for ");
  return `${strategyField(bundle, field)} waits for ${text}: gates that wait for each other never pass; remove one of them`;
}
