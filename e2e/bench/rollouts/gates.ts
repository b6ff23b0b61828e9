/** How soon a rollout goes on once somebody has decided a Gate. */
import type { RolloutStrategy } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { type Gate, gates } from "@flotilla/shared/api/rollout";
import { type SelfSubjectReview, selfSubjectReviews } from "@flotilla/shared/kube/objects";
import { newContent } from "../../src/rollout/observed-limits.ts";
import { type Figure, median } from "../measure/figures.ts";
import { change, contentsNow, quarters, rolloutAs, type StagedFleet } from "./staged-fleet.ts";

const barMs = 200;
const gate = "go";

/** Each stage waits for somebody who is not the hub. */
export function gatedQuarters(agents: number): RolloutStrategy {
  return quarters(agents, { before: [{ name: gate, external: {} }] });
}

export async function gateFigures(fleet: StagedFleet): Promise<readonly Figure[]> {
  const { agents, observer, stageClusters } = fleet;
  const before = contentsNow(observer);
  const rolloutsFrom = observer.rollouts.length;
  await change(fleet, gatedQuarters(agents));
  const promotedMs: number[] = [];
  const decidedMs: number[] = [];
  let content: string | undefined;
  for (const [index] of stageClusters.entries()) {
    const waiting = await waitingGate(fleet, `quarter-${index + 1}`, rolloutsFrom);
    const from = observer.states.length;
    const begunAtMs = performance.now();
    await decide(fleet, waiting);
    decidedMs.push(performance.now() - begunAtMs);
    await observer.until(() => {
      content ??= newContent(observer.states.slice(from), before);
      return observer.states.slice(from).some(isPromoted);
    });
    const first = observer.states.slice(from).find(isPromoted);
    promotedMs.push((first?.atMs ?? Number.NaN) - begunAtMs);
  }
  await rolloutAs(fleet, ({ status }) => status?.phase === "Completed");
  return [
    {
      what: `a Gate of ${agents} clusters decided, until the first promotion is written`,
      unit: "ms",
      value: median(promotedMs),
      baseline: { what: "the write of the decision alone", value: median(decidedMs) },
      bar: barMs,
      detail: `${promotedMs.map((ms) => ms.toFixed(0)).join(", ")} ms`,
    },
  ];

  function isPromoted({ desired, isReady }: (typeof observer.states)[number]): boolean {
    return desired === content && !isReady;
  }
}

/** The undecided Gate of a stage, as soon as the rollout has stored which one it is. */
export async function waitingGate(
  fleet: StagedFleet,
  stage: string,
  rolloutsFrom: number,
): Promise<Gate> {
  const recordIn = (rollout: (typeof fleet.observer.rollouts)[number]) =>
    rollout.status?.stages
      ?.find((each) => each.name === stage)
      ?.gates?.find(({ result, uid }) => result === "Waiting" && uid !== undefined);
  const rollout = await rolloutAs(
    fleet,
    (each) => fleet.observer.rollouts.length > rolloutsFrom && recordIn(each) !== undefined,
  );
  const name = recordIn(rollout)?.gate ?? "";
  const found = await fleet.bench.fleet.hub.get(gates, { namespace, name });
  if (found === undefined) throw new Error(`the Gate ${name} is not there`);
  return found;
}

/** As the user of the benchmark. */
export async function decide({ bench }: StagedFleet, { metadata, spec }: Gate): Promise<void> {
  const { hub } = bench.fleet;
  const review: SelfSubjectReview = { metadata: { name: "self" } };
  const by = (await hub.create(selfSubjectReviews, review)).status?.userInfo?.username;
  const decision = { result: "Passed", by, digest: spec.digest };
  const body = { status: { decision } };
  await hub.patch(gates, metadata, { type: "merge", body }, { subresource: "status" });
}
