/** The name of a group above its part of a picture; a click shows this group alone. */
import type { CSSProperties } from "react";
import { plural } from "../fleet/index.ts";
import "./group-head.css";

export interface GroupHeadProps {
  /** The value of the label; "": clusters without it. */
  readonly value: string;
  readonly name: string;
  readonly count: number;
  /** Where it is. */
  readonly style: CSSProperties;
  readonly onZoom: (value: string) => void;
}

/** For the pointer: the table below the picture has the same for keyboards. */
export function GroupHead({ value, name, count, style, onZoom }: GroupHeadProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      className="group-head"
      style={style}
      title={`${name}: ${plural(count, "cluster")}`}
      onClick={() => onZoom(value)}
    >
      {name} <small>{count}</small>
    </button>
  );
}
