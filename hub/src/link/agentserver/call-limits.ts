/** The limit of concurrent calls of each agent. */

/** `most`: of one agent. */
export function createCallLimit(most: number) {
  const counts = new Map<string, number>();
  return {
    /** The function that releases the call; `undefined` when the agent has too many. */
    acquire(agent: string): (() => void) | undefined {
      const count = counts.get(agent) ?? 0;
      if (count >= most) return undefined;
      counts.set(agent, count + 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        const others = (counts.get(agent) ?? 1) - 1;
        if (others === 0) counts.delete(agent);
        else counts.set(agent, others);
      };
    },
  };
}
