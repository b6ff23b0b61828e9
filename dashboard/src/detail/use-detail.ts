/** One object with its details: read when it is opened, and again when a change of the fleet concerns it. */
import type { EndpointName, ResponseOf } from "@flotilla/shared/dashboard";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError, get } from "../api/index.ts";

/** Between two reads, however often it changes. */
const pauseMs = 1_000;

/**
 * `version`: something that is another one with each change of the object in the fleet, such as its entry there.
 */
export function useDetail<N extends EndpointName>(path: string, version: unknown) {
  const client = useQueryClient();
  const readAt = useRef(0);
  const readVersion = useRef(version);
  const result = useQuery<ResponseOf<N>, Error>({
    queryKey: ["detail", path],
    queryFn: ({ signal }) => {
      readAt.current = Date.now();
      return get<N>(path, signal);
    },
    // A page that is opened again shows what is there now.
    staleTime: 0,
    retry: (failures, error) =>
      failures < 5 && error instanceof ApiError && (error.status === 0 || error.status === 503),
  });
  useEffect(() => {
    if (readVersion.current === version) return;
    readVersion.current = version;
    const waitMs = Math.max(0, readAt.current + pauseMs - Date.now());
    const timer = setTimeout(
      () => void client.invalidateQueries({ queryKey: ["detail", path] }),
      waitMs,
    );
    return () => clearTimeout(timer);
  }, [client, path, version]);
  return result;
}
