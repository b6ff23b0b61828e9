/** A time: relative, with the absolute one on hover. One clock ticks for all of them. */
import { useSyncExternalStore } from "react";
import { durationText, relativeText } from "./relative-time.ts";

const listeners = new Set<() => void>();
let nowMs = Date.now();
setInterval(() => {
  nowMs = Date.now();
  for (const listener of listeners) listener();
}, 1_000);

export function useNow(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => nowMs,
  );
}

/** `at`: RFC 3339. */
export function Ago({
  at,
  style = "ago",
}: {
  readonly at: string;
  readonly style?: "ago" | "age";
}) {
  const now = useNow();
  const timeMs = Date.parse(at);
  if (Number.isNaN(timeMs)) return null;
  const text = style === "ago" ? relativeText(timeMs, now) : durationText(now - timeMs);
  return (
    <time dateTime={at} title={new Date(timeMs).toLocaleString()}>
      {text}
    </time>
  );
}
