/** The time now, for all that show ages: one timer, and the hub's clock where the browser's is wrong. */
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

const NowContext = createContext<number | undefined>(undefined);
const CoarseNowContext = createContext<number | undefined>(undefined);

const tickMs = 1_000;
/** What is expensive to draw is drawn less often. */
const coarseTickMs = 10_000;

export interface ClockProviderProps {
  /** The hub's clock minus the browser's, in milliseconds. */
  readonly offsetMs: number;
  readonly children: ReactNode;
}

export function ClockProvider({ offsetMs, children }: ClockProviderProps) {
  const [ownMs, setOwnMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setOwnMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  const now = ownMs + offsetMs;
  return (
    <CoarseNowContext value={now - (now % coarseTickMs)}>
      <NowContext value={now}>{children}</NowContext>
    </CoarseNowContext>
  );
}

/** In milliseconds since 1970. Of a component inside ClockProvider. */
export function useNow(): number {
  return known(useContext(NowContext));
}

/** The same, up to ten seconds ago: a component that uses it is not drawn each second. */
export function useCoarseNow(): number {
  return known(useContext(CoarseNowContext));
}

function known(now: number | undefined): number {
  if (now === undefined) throw new Error("there is no clock here");
  return now;
}
