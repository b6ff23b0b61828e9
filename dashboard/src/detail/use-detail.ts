/** One object with its details: read when it is opened, and again when a change of the fleet concerns it. */
import type { EndpointName, ResponseOf } from "@flotilla/shared/dashboard";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { get, isTransient } from "../api/index.ts";

/** Between two reads, however often it changes. */
const pauseMs = 1_000;
/** The same for what grows with the number of clusters. */
export const slowPauseMs = 3_000;

/** `versions`: values of which one is another with each change of the object in the fleet, such as its entry there. */
export function useDetail<N extends EndpointName>(
  path: string,
  versions: readonly unknown[],
  minIntervalMs = pauseMs,
) {
  const client = useQueryClient();
  const readAt = useRef(0);
  const readVersions = useRef(versions);
  const timer = useRef<number>(undefined);
  const { data, error, isFetching } = useQuery<ResponseOf<N>, Error>({
    queryKey: ["detail", path],
    queryFn: ({ signal }) => {
      readAt.current = Date.now();
      readVersions.current = versions;
      return get<N>(path, signal);
    },
    // A page that is opened again shows what is there now.
    staleTime: 0,
  });
  // After each rendering: whether something has changed is cheap to see. A read in progress is completed first, however slow it is.
  useEffect(() => {
    if (isFetching || timer.current !== undefined) return;
    if (versions.every((each, index) => each === readVersions.current[index])) return;
    timer.current = window.setTimeout(
      () => {
        timer.current = undefined;
        void client.invalidateQueries({ queryKey: ["detail", path] });
      },
      Math.max(0, readAt.current + minIntervalMs - Date.now()),
    );
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what waits is for this path
  useEffect(
    () => () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
    },
    [path],
  );
  // While the hub does not answer, what was read before stays: the page says of when it is.
  return { data, error: data !== undefined && isTransient(error) ? null : error };
}
