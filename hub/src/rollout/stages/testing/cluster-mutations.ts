/** Faults in each rule about which clusters are promoted, how often, and what is said about them. */
import { formatTimeMs } from "@flotilla/shared/time";
import { hasRevision } from "../member.ts";
import { facts, found, given, type Mutation, members, stages, status } from "./plant.ts";

export const mutationsOfClusters: readonly Mutation[] = [
  {
    fault: "clusters are promoted by what the cache of a new leader shows",
    invariant: 7,
    plant: (simulation) => {
      simulation.catchesUp = false;
    },
  },
  {
    fault: "windows are ignored",
    invariant: 5,
    plant: stages(({ windows: _, ...stage }) => stage),
  },
  {
    fault: "a window that denies is ignored",
    invariant: 5,
    plant: stages((stage) => ({
      ...stage,
      ...(stage.windows && { windows: stage.windows.filter(({ deny }) => deny !== true) }),
    })),
  },
  {
    fault: "a window that does not exist is open",
    invariant: 5,
    plant: facts(({ windowOf }) => ({
      windowOf: (window, atMs) => {
        const state = windowOf(window, atMs);
        return state.problem === undefined ? state : { isOpen: true, changesAtMs: undefined };
      },
    })),
  },
  {
    fault: "clusters that are offline are promoted",
    invariant: 5,
    plant: members(() => ({ isConnected: true })),
  },
  {
    fault: "clusters that are paused are promoted",
    invariant: 5,
    plant: members(() => ({ isPaused: false })),
  },
  {
    fault: "clusters that are skipped are promoted",
    invariant: 5,
    plant: members(() => ({ isSkipped: false })),
  },
  {
    fault: "clusters whose Schedules are closed are promoted",
    invariant: 5,
    plant: members(() => ({ isOffSchedule: false })),
  },
  {
    fault: "a paused Bundle goes on",
    invariant: 5,
    plant: given(({ members: all, isPaused }) => ({
      isPaused: false,
      ...(isPaused && { members: all.map((member) => ({ ...member, isPaused: false })) }),
    })),
  },
  {
    fault: "clusters are promoted that no target of the revision matches",
    invariant: 5,
    plant: found(({ promotions, isStored, status: { phase } }, { members: all, spec }) => {
      const other = all.find(({ content, isPaused }) => content === "" && !isPaused);
      return phase === "Progressing" && isStored && other !== undefined
        ? {
            promotions: [
              ...promotions,
              { member: other, content: spec.revision, isRollback: false },
            ],
          }
        : {};
    }),
  },
  {
    fault: "a cluster that has the revision is promoted again",
    invariant: 7,
    plant: found(({ promotions, status: { phase } }, { members: all }) => {
      const again = all.find(
        (member) => hasRevision(member) && !member.isPaused && !member.isSkipped,
      );
      return phase === "RollingBack" || again === undefined || promotions.length === 0
        ? {}
        : {
            promotions: [
              ...promotions,
              { member: again, content: again.content, isRollback: false },
            ],
          };
    }),
  },
  {
    fault: "what an agent has refused is promoted again before it was taken back",
    invariant: 7,
    plant: found(({ promotions, status: { phase } }, { members: all, assignment }) => {
      const refused = all.find(({ refused: content }) => content !== undefined);
      return phase !== "Progressing" || refused === undefined || !assignment.has(refused.key)
        ? {}
        : {
            promotions: [
              ...promotions,
              { member: refused, content: refused.content, isRollback: false },
            ],
          };
    }),
  },
  {
    fault: "clusters that come late are never promoted",
    invariant: 8,
    plant: found(({ promotions }, { stored }) =>
      stored?.phase === "Completed" ? { promotions: [] } : { promotions },
    ),
  },
  {
    fault: "nobody reads what is decided",
    invariant: 8,
    plant: facts(() => ({ decisionOf: () => undefined })),
  },
  {
    fault: "a rollback ends before all clusters are back",
    invariant: 9,
    plant: found((result) =>
      result.status.phase === "RollingBack"
        ? { status: { ...result.status, phase: "RolledBack" }, promotions: [] }
        : {},
    ),
  },
  {
    fault: "what was installed for the first time is taken back",
    invariant: 9,
    plant: found(({ promotions, isStored, status: { phase } }, { members: all, assignment }) => {
      const first = all.filter(
        (member) =>
          hasRevision(member) && member.promotion?.from === "" && assignment.has(member.key),
      );
      const isMine = first.filter(({ isPaused, isSkipped }) => !isPaused && !isSkipped);
      return phase === "RollingBack" && isStored
        ? {
            promotions: [
              ...promotions,
              ...isMine.map((member) => ({ member, content: "", isRollback: true })),
            ],
          }
        : {};
    }),
  },
  {
    fault: "a cluster is counted in no stage",
    invariant: 10,
    plant: status(({ stages: list = [] }) => ({
      stages: list.map((stage, index) =>
        index === 0 ? { ...stage, total: stage.total - 1 } : stage,
      ),
    })),
  },
  {
    fault: "the last stage takes what it does not select",
    invariant: 10,
    plant: given(({ members: all, assignment, strategy: { stages: list = [] } }) => ({
      assignment: new Map(
        all.map(({ key }) => [key, assignment.get(key) ?? list.at(-1)?.name ?? ""]),
      ),
    })),
  },
  {
    fault: "a wave takes one cluster less",
    invariant: 10,
    plant: given(({ assignment, strategy: { stages: list = [] } }) => {
      const wave = list.find(({ upTo }) => upTo !== undefined)?.name;
      const last = [...assignment].findLast(([, stage]) => stage === wave)?.[0];
      return { assignment: new Map([...assignment].filter(([key]) => key !== last)) };
    }),
  },
  {
    fault: "what follows depends on what was asked before",
    invariant: 11,
    plant: (simulation) => {
      const { step } = simulation;
      let calls = 0;
      simulation.step = (inputs) => {
        calls += 1;
        const result = step(inputs);
        return calls % 2 === 0 ? { ...result, promotions: result.promotions.slice(1) } : result;
      };
    },
  },
  {
    fault: "what is stored depends on what was asked before",
    invariant: 11,
    plant: (simulation) => {
      const { step } = simulation;
      let calls = 0;
      simulation.step = (inputs) => {
        calls += 1;
        const result = step(inputs);
        const message = `${result.status.message ?? ""}, step ${calls}`;
        return { ...result, status: { ...result.status, message } };
      };
    },
  },
  {
    fault: "each step says that it waits since now",
    invariant: 12,
    plant: status((_, { nowMs }) => ({ since: formatTimeMs(nowMs) })),
  },
  {
    fault: "nothing says what is waited for",
    invariant: 12,
    plant: status(({ phase, message = "" }) => ({ message: phase === "Waiting" ? "" : message })),
  },
  {
    fault: "no step is made when a window opens",
    invariant: 12,
    plant: found(() => ({ wakesAtMs: undefined })),
  },
];
