/** What differs between the manifest of the release and the objects in the cluster. */
import { Shown, useAnswer } from "../requests/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import { kindOf } from "./diff-lines.ts";
import type { TabProps } from "./tab-props.ts";

export function DiffTab({ path, change }: TabProps) {
  const answer = useAnswer(`${path}/diff`, change);
  const isSame = answer.isComplete && answer.problem === undefined && answer.text === "";
  return (
    <Shown answer={answer}>
      {isSame && <p>All objects match the release's manifest.</p>}
      {answer.text !== "" && (
        <pre className="lines" {...scrollRegion}>
          {answer.text.split("\n").map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and none moves
            <span key={index} className={`diff-${kindOf(line)}`}>
              {line}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
    </Shown>
  );
}
