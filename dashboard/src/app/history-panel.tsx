/** The versions that the app had, and when the clusters got them. */
import type { AppRef, VersionRecord } from "@flotilla/shared/dashboard";
import { slowPauseMs, useDetail } from "../detail/index.ts";
import { objectKey, plural, useFleet } from "../fleet/index.ts";
import { Ago } from "../time/index.ts";

export function HistoryPanel({ app }: { readonly app: AppRef }) {
  const { kind, namespace, name } = app;
  const path = `/api/v1/apps/${kind}/${namespace}/${name}/history`;
  const versions = [useFleet().rows.get(objectKey(app))];
  const { data, error } = useDetail<"history">(path, versions, slowPauseMs);
  const history = data?.versions ?? [];
  return (
    <section className="card" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      {error !== null && <p role="alert">{error.message}</p>}
      {data !== undefined && history.length === 0 && (
        <p className="soft">No cluster has installed it yet.</p>
      )}
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
