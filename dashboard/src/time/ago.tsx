/** A time: relative, with the absolute one on hover. */
import { useNow } from "./clock.tsx";
import { durationText, relativeText } from "./relative-time.ts";

export interface AgoProps {
  /** RFC 3339. */
  readonly at: string;
  readonly style?: "ago" | "age";
}

export function Ago({ at, style = "ago" }: AgoProps) {
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
