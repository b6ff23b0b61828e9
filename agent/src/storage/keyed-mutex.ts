/** Work about one name at a time, in the order in which it came; about other names it goes on beside that. */

export interface Turns {
  /** Gives what came of the work, which begins when all that came before has ended, well or not. */
  take<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** The work that came last, unless it has ended. */
  last(name: string): Promise<unknown> | undefined;
}

export function createTurns(): Turns {
  const lasts = new Map<string, Promise<unknown>>();
  return {
    take(name, work) {
      const turn = (lasts.get(name) ?? Promise.resolve()).catch(() => undefined).then(work);
      lasts.set(name, turn);
      const cleanUp = (): void => {
        if (lasts.get(name) === turn) lasts.delete(name);
      };
      turn.then(cleanUp, cleanUp);
      return turn;
    },
    last: (name) => lasts.get(name),
  };
}
