/** Work that comes in crowds, a little of it in each turn of the event loop: whatever else there is to do goes on beside it. */

/** Does it in one of the next turns, in the order in which it came. */
export type InTurn = (work: () => void) => void;

export function createTurns(atATime: number): InTurn {
  const waiting: (() => void)[] = [];
  let isGoingOn = false;

  function workSome(): void {
    for (const work of waiting.splice(0, atATime)) work();
    isGoingOn = waiting.length > 0;
    if (isGoingOn) setImmediate(workSome);
  }

  return (work) => {
    waiting.push(work);
    if (!isGoingOn) setImmediate(workSome);
    isGoingOn = true;
  };
}
