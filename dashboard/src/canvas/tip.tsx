/** What the pointer is at, beside it, inside the picture of `width` pixels. */
import type { ReactNode } from "react";
import "./tip.css";

export interface TipProps {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly children: ReactNode;
}

export function Tip({ x, y, width, children }: TipProps) {
  return (
    <div
      className={`tip ${x > width / 2 ? "tip-left" : ""}`}
      style={{ insetInlineStart: x, insetBlockStart: y }}
    >
      {children}
    </div>
  );
}
