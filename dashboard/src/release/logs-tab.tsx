/** The logs of the pods of the release. */
import { useState } from "react";
import { CheckField, SearchField } from "../field/index.ts";
import { Shown, useAnswer } from "../requests/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import type { TabProps } from "./tab-props.ts";

export interface LogsTabProps extends TabProps {
  /** Only of this pod; "": of all. */
  readonly pod: string;
  readonly setPod: (pod: string) => void;
}

export function LogsTab({ path, change, pod, setPod }: LogsTabProps) {
  const [isPrevious, setPrevious] = useState(false);
  const [text, setText] = useState("");
  const [read, setRead] = useState(0);
  const query = new URLSearchParams({
    tail: "200",
    ...(isPrevious && { previous: "true" }),
    ...(pod !== "" && { pod }),
  });
  const answer = useAnswer(`${path}/log?${query.toString()}`, `${read} ${change}`);
  const lines = answer.text.split("\n").filter((line) => line !== "" && line.includes(text));
  return (
    <>
      <div className="panel-head">
        <SearchField
          name="Search in the log"
          placeholder="Search in the log"
          value={text}
          onChange={setText}
        />
        <CheckField name="previous container" checked={isPrevious} onChange={setPrevious} />
        {pod !== "" && (
          <button type="button" className="button" onClick={() => setPod("")}>
            Show all pods (only {pod} now)
          </button>
        )}
        <button type="button" className="button" onClick={() => setRead(read + 1)}>
          Refresh
        </button>
      </div>
      <Shown answer={answer}>
        <pre className="lines" {...scrollRegion}>
          {lines.join("\n")}
        </pre>
      </Shown>
    </>
  );
}
