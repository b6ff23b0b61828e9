/** The staged rollouts that an app had: how each ended, and who decided what. */
import type { RolloutRecord } from "@flotilla/shared/dashboard";
import { StateIcon } from "../badge/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";
import { Decided } from "./gates.tsx";
import { number, phaseWords } from "./words.ts";

export function RolloutHistory({ records }: { readonly records: readonly RolloutRecord[] }) {
  return records.length === 0 ? null : (
    <section className="card" aria-labelledby="rollouts-title">
      <h2 id="rollouts-title">Staged rollouts</h2>
      <ul className="conditions">
        {records.map((record) => (
          <Entry key={record.name} {...record} />
        ))}
      </ul>
    </section>
  );
}

function Entry(record: RolloutRecord) {
  const {
    number: count,
    version,
    phase,
    message,
    startedAt,
    endedAt,
    done,
    total,
    decisions,
  } = record;
  const { word, tone } = phaseWords(phase);
  return (
    <li className="condition">
      <span className={`condition-name tone-${tone}`}>
        <StateIcon tone={tone} /> {count}
        {version !== undefined && `: ${version}`}, {word}
      </span>
      <span className="soft">
        {startedAt !== undefined && (
          <>
            started <Ago at={startedAt} />
          </>
        )}
        {endedAt !== undefined && (
          <>
            , ended <Ago at={endedAt} />
          </>
        )}
      </span>
      <p>
        {number(done)} of {number(total)} done
        {message !== "" && (
          <>
            ; <Message text={message} />
          </>
        )}
      </p>
      {decisions.map(({ stage, gate, ...decision }) => (
        <p key={`${stage} ${gate} ${decision.at}`}>
          {gate} of {stage}: {decision.result.toLowerCase()} <Decided {...decision} />
        </p>
      ))}
    </li>
  );
}
