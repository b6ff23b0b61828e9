/** Reads what is said about a decision before it is made. Who may decide a Gate may not have to read anything else. */
import { isAppKind } from "@flotilla/shared/api/apps";
import { bundleRollouts, type Gate, type GateDecision } from "@flotilla/shared/api/rollout";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import type { DecisionFacts } from "./decision-effect.ts";
import { readPromoted } from "./read-promoted.ts";
import { readStrategy } from "./read-strategy.ts";

export async function readDecisionFacts(
  rest: KubeRest,
  gate: Gate,
  result: GateDecision["result"],
): Promise<DecisionFacts> {
  const { namespace = "" } = gate.metadata;
  const { name, uid } = gate.spec.rollout;
  const found = await unlessForbidden(rest.get(bundleRollouts, { namespace, name }));
  const rollout = found?.metadata.uid === uid ? found : undefined;
  if (rollout === undefined) return { gate, rollout, onFailure: undefined };
  const { app, bundle } = rollout.spec;
  const onFailure =
    result === "Failed"
      ? await readAction(rest, gate, { namespace, name: bundle.name })
      : undefined;
  const promoted =
    onFailure === "Rollback" && isAppKind(app.kind)
      ? await readPromoted(rest, { kind: app.kind, namespace, name: app.name }, rollout)
      : undefined;
  return { gate, rollout, onFailure, promoted };
}

/** What follows from a gate that has failed: with `Continue`, too, it never passes. */
async function readAction(
  rest: KubeRest,
  { spec }: Gate,
  bundle: { readonly namespace: string; readonly name: string },
): Promise<DecisionFacts["onFailure"]> {
  const strategy = await unlessForbidden(readStrategy(rest, bundle));
  if (strategy === undefined) return undefined;
  const stage = strategy.stages?.find(({ name }) => name === spec.stage);
  return (stage?.onFailure ?? strategy.onFailure) === "Rollback" ? "Rollback" : "Halt";
}

async function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    return undefined;
  }
}
