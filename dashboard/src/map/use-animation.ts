/** Runs a drawing for each frame as long as it says that it has more to draw. Nothing moves for those who want no motion. */
import { useEffect, useRef } from "react";

/** Returns whether there is more. */
export type DrawFrame = (nowMs: number) => boolean;

/** Begins again with each new `draw`. */
export function useAnimation(draw: DrawFrame): void {
  const frame = useRef(0);
  useEffect(() => {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const next = (nowMs: number) => {
      if (draw(nowMs)) frame.current = requestAnimationFrame(next);
    };
    frame.current = requestAnimationFrame(next);
    return () => cancelAnimationFrame(frame.current);
  }, [draw]);
}
