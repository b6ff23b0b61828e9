/** What needs attention, worst first: what, since when, why, and what to do. */
import { useState } from "react";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import { adviceFor, type Concern, plural } from "../fleet/index.ts";
import { Ago } from "../time/index.ts";

const firstShown = 5;

export function AttentionList({ concerns }: { readonly concerns: readonly Concern[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? concerns : concerns.slice(0, firstShown);
  return (
    <section className="card" aria-labelledby="attention-title">
      <h2 id="attention-title">Needs attention</h2>
      <ul className="concerns">
        {shown.map((concern) => (
          <ConcernItem key={`${concern.kind}/${concern.namespace}/${concern.name}`} {...concern} />
        ))}
      </ul>
      {concerns.length > shown.length && (
        <button type="button" className="button" onClick={() => setWhole(true)}>
          Show {concerns.length - shown.length} more
        </button>
      )}
    </section>
  );
}

function ConcernItem(concern: Concern) {
  const { kind, namespace, name, state, suspended, message, since, clusters } = concern;
  const advice = adviceFor(concern);
  return (
    <li className="concern">
      <div className="concern-what">
        <StateBadge state={state} suspended={suspended} />
        <Link href={pageOf(concern)}>
          <span className="soft">{kind}</span> <strong>{name}</strong>{" "}
          <span className="soft">in {namespace}</span>
        </Link>
        {clusters > 1 && <span className="soft">{plural(clusters, "cluster")}</span>}
        {since !== "" && (
          <span className="soft concern-since">
            since <Ago at={since} style="age" />
          </span>
        )}
      </div>
      {message !== "" && <p className="concern-why">{message}</p>}
      {advice !== undefined && (
        <p className="concern-advice">
          <strong>What to do:</strong> {advice.text}
          {advice.command !== undefined && <code>{advice.command}</code>}
        </p>
      )}
    </li>
  );
}
