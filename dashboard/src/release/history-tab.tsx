/** Helm's history of the release. */
import { entriesOf } from "../api/index.ts";
import { Shown, useAnswer } from "../requests/index.ts";
import { Ago } from "../time/index.ts";
import type { TabProps } from "./tab-props.ts";

interface Revision {
  readonly revision: number;
  readonly status: string;
  readonly chartName: string;
  readonly chartVersion: string;
  readonly deployedAt?: string;
  readonly description: string;
  /** Why the agent made it. */
  readonly reasons?: readonly string[];
}

export function HistoryTab({ path, change }: TabProps) {
  const answer = useAnswer(`${path}/history`, change);
  const revisions = entriesOf<Revision>(answer.text);
  return (
    <Shown answer={answer}>
      <ul className="conditions">
        {revisions.map(({ revision, status, chartName, chartVersion, deployedAt, ...entry }) => (
          <li key={revision} className="condition">
            <strong>
              Revision {revision}: {chartName} {chartVersion}
            </strong>
            <span className="soft">
              {[status, ...(entry.reasons ?? [])].join(", ")}{" "}
              {deployedAt !== undefined && <Ago at={deployedAt} />}
            </span>
            <p>{entry.description}</p>
          </li>
        ))}
      </ul>
    </Shown>
  );
}
