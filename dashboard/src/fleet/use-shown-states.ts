/** The states as the page shows them, for components. */
import { useMemo } from "react";
import { useCoarseNow } from "../time/index.ts";
import { type ShownStates, shownStates } from "./shown-states.ts";
import { useFleet } from "./use-fleet.tsx";

export function useShownStates(): ShownStates {
  const fleet = useFleet();
  const now = useCoarseNow();
  return useMemo(() => shownStates(fleet, now), [fleet, now]);
}
