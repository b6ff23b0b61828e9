/** The versions that the app had, and when the clusters got them. */
import type { AppRef, VersionRecord } from "@flotilla/shared/dashboard";
import { slowPauseMs, useDetail } from "../detail/index.ts";
import { countVersions, objectKey, useFleet } from "../fleet/index.ts";
import { Ago } from "../time/index.ts";
import { versionText } from "./version-text.ts";

export function HistoryPanel({ app }: { readonly app: AppRef }) {
  const { kind, namespace, name } = app;
  const path = `/api/v1/apps/${kind}/${namespace}/${name}/history`;
  const row = useFleet().rows.get(objectKey(app));
  const versions = [row];
  const notReady = new Map(countVersions(row).map((each) => [each.version, each.notReady]));
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
          <Entry key={record.version} {...record} notReady={notReady.get(record.version) ?? 0} />
        ))}
      </ul>
    </section>
  );
}

interface EntryProps extends VersionRecord {
  /** On how many clusters it is the version, but not up. */
  readonly notReady: number;
}

function Entry({ version, firstAt, lastAt, clusters, current, failed, notReady }: EntryProps) {
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
      <p>{versionText({ clusters, current, failed, notReady })}</p>
    </li>
  );
}
