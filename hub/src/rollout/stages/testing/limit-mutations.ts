/** Faults in each limit of a stage, in the order of stages, and in what failures lead to. */
import { hasRevision } from "../member.ts";
import {
  found,
  given,
  isPending,
  limited,
  type Mutation,
  members,
  oneMore,
  roundedUp,
  stages,
  strategy,
} from "./plant.ts";

export const mutationsOfLimits: readonly Mutation[] = [
  {
    fault: "one cluster more than maxUnavailable is in flight",
    invariant: 1,
    plant: limited("maxUnavailable", oneMore),
  },
  {
    fault: "a share of maxUnavailable is rounded up",
    invariant: 1,
    plant: limited("maxUnavailable", roundedUp),
  },
  {
    fault: "a rollback has no limit",
    invariant: 1,
    plant: strategy((given) => ({
      ...given,
      rollback: { ...given.rollback, maxUnavailable: "100%" },
    })),
  },
  {
    fault: "clusters that are not ready do not count as unavailable",
    invariant: 2,
    plant: (simulation) => {
      members((member) => (isPending(member) && !member.isReady ? { unreadySinceMs: 0 } : {}))(
        simulation,
      );
      // Some that break down once it runs, and whose turn does not come.
      for (const cluster of [...simulation.clusters.values()].slice(0, 2))
        Object.assign(cluster, {
          isReady: false,
          isPaused: true,
          unreadySinceMs: simulation.nowMs + 1,
        });
    },
  },
  {
    fault: "the last stage comes first",
    invariant: 3,
    plant: strategy((given) => ({ ...given, stages: (given.stages ?? []).toReversed() })),
  },
  {
    fault: "a stage does not wait for clusters that are not promoted yet",
    invariant: 3,
    plant: members((member, { members: all }) =>
      isPending(member) && all.indexOf(member) % 2 === 1 ? { isConnected: false } : {},
    ),
  },
  {
    fault: "a stage does not wait for what is in flight",
    invariant: 3,
    plant: members((member) => (hasRevision(member) && !member.isReady ? { isSkipped: true } : {})),
  },
  {
    fault: "an empty stage is passed over",
    invariant: 3,
    plant: stages((stage) => ({ ...stage, allowEmpty: true })),
  },
  {
    fault: "a stage is through with no cluster that is done",
    invariant: 3,
    plant: stages((stage) => ({ ...stage, minSuccess: 0 })),
  },
  {
    fault: "failed clusters are not counted",
    invariant: 6,
    plant: given(({ members: all, strategy: limits }) => ({
      members: all.map((member) => ({ ...member, hasGivenUp: false })),
      strategy: {
        ...limits,
        progressDeadline: "1000h",
        stages: (limits.stages ?? []).map(({ progressDeadline: _, ...stage }) => stage),
      },
    })),
  },
  {
    fault: "one failure more than maxFailures is tolerated",
    invariant: 6,
    plant: limited("maxFailures", (limit) => oneMore(limit ?? 0)),
  },
  {
    fault: "a share of maxFailures is rounded up",
    invariant: 6,
    plant: limited("maxFailures", roundedUp),
  },
  {
    fault: "what a person has stopped goes on",
    invariant: 6,
    plant: given(({ spec: { state: _, ...spec } }) => ({ spec })),
  },
  {
    fault: "a halted rollout goes on by itself",
    invariant: 6,
    plant: found(({ isStored, status: { phase } }, { members: all, assignment }) => {
      const [next] = all.filter(({ key }) => assignment.has(key)).filter(isPending);
      return phase === "Halted" && isStored && next !== undefined
        ? { promotions: [{ member: next, content: next.content, isRollback: false }] }
        : {};
    }),
  },
];
