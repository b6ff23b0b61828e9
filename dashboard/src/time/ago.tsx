/** A time: relative, with the absolute one on hover. */
import { useNow } from "./clock.tsx";
import { dueText, durationText, relativeText } from "./relative-time.ts";

export interface AgoProps {
  /** RFC 3339. */
  readonly at: string;
  /** `age`: how long it has been; `due`: of something that is to come. */
  readonly style?: "ago" | "age" | "due";
}

const texts = {
  ago: relativeText,
  age: (timeMs: number, nowMs: number) => durationText(nowMs - timeMs),
  due: dueText,
} as const;

export function Ago({ at, style = "ago" }: AgoProps) {
  const now = useNow();
  const timeMs = Date.parse(at);
  if (Number.isNaN(timeMs)) return null;
  return (
    <time dateTime={at} title={new Date(timeMs).toLocaleString()}>
      {texts[style](timeMs, now)}
    </time>
  );
}
