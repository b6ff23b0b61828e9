/**
 * Runs a drawing as long as it says that it has more to draw, and only while it can be seen. Nothing moves for those who want no
 * motion.
 */
import { type RefObject, useEffect } from "react";

/** Returns whether there is more to draw, with the next frame of the browser. */
export type DrawFrame = (nowMs: number) => boolean;

/** Begins again with each new `draw`, and when `element` comes into view. Undefined: nothing moves, and no frame is requested. */
export function useAnimation(
  draw: DrawFrame | undefined,
  element: RefObject<Element | null>,
): void {
  useEffect(() => {
    const seen = element.current;
    if (draw === undefined || seen === null) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    let frame = 0;
    const start = () => {
      frame = requestAnimationFrame((nowMs) => {
        if (draw(nowMs)) start();
      });
    };
    const observer = new IntersectionObserver((entries) => {
      cancelAnimationFrame(frame);
      if (entries.at(-1)?.isIntersecting === true) start();
    });
    observer.observe(seen);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [draw, element]);
}
