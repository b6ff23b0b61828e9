/** The hub's memory over the number of agents, as they come. */
import { memoryMb } from "../measure/bench-fleet.ts";
import type { AgentsFleet } from "./agents-fleet.ts";

export interface MemorySample {
  readonly agents: number;
  readonly mb: number;
}

export interface MemorySamples {
  end(): Promise<readonly MemorySample[]>;
}

const everyMs = 2_000;

/** The memory of the hub as it is, with the garbage that has not been collected yet. */
export function sampleMemory({ fleet, clusters }: AgentsFleet): MemorySamples {
  const samples: MemorySample[] = [];
  async function sample(): Promise<void> {
    const agents = clusters.store
      .list()
      .filter(({ status }) => status?.agent?.connected === true).length;
    samples.push({ agents, mb: await memoryMb(fleet.hubProcess().identity.pid) });
  }
  const timer = setInterval(() => void sample(), everyMs);
  return {
    async end() {
      clearInterval(timer);
      await sample();
      return samples;
    },
  };
}
