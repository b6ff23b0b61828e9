/** The time now, for all that show ages: one timer, and the hub's clock where the browser's is wrong. */
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

const NowContext = createContext<number | undefined>(undefined);

const tickMs = 1_000;

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
  return <NowContext value={ownMs + offsetMs}>{children}</NowContext>;
}

/** In milliseconds since 1970. Of a component inside ClockProvider. */
export function useNow(): number {
  const now = useContext(NowContext);
  if (now === undefined) throw new Error("there is no clock here");
  return now;
}
