/** The size of an element as it is drawn. */
import { type RefObject, useEffect, useState } from "react";

export interface Size {
  /** In pixels; 0 before it is known. */
  readonly width: number;
}

export function useSize(ref: RefObject<HTMLElement | null>): Size {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [ref]);
  return { width };
}
