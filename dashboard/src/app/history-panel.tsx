/** The versions that the app had, and when the clusters got them. */
import type { VersionRecord } from "@flotilla/shared/dashboard";
import { plural } from "../fleet/index.ts";
import { Ago } from "../time/index.ts";

export function HistoryPanel({ history }: { readonly history: readonly VersionRecord[] }) {
  return (
    <section className="card" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      {history.length === 0 && <p className="soft">No cluster has installed it yet.</p>}
      <ul className="conditions">
        {history.map((record) => (
          <Entry key={record.version} {...record} />
        ))}
      </ul>
    </section>
  );
}

function Entry({ version, firstAt, lastAt, clusters, current, failed }: VersionRecord) {
  return (
    <li className="condition">
      <strong>{version}</strong>
      <span className="soft">
        {firstAt === lastAt ? (
          <Ago at={firstAt} />
        ) : (
          <>
            from <Ago at={firstAt} /> to <Ago at={lastAt} />
          </>
        )}
      </span>
      <p>
        installed on {plural(clusters, "cluster")}
        {current > 0 ? `, running on ${current.toLocaleString("en")}` : ", replaced on all of them"}
        {failed > 0 && `; failed on ${failed.toLocaleString("en")}`}
      </p>
    </li>
  );
}
