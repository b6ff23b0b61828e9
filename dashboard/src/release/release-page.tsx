/** The release of an app in a cluster: why it is as it is, in words, then its objects. */
import type { AppRef, ClusterRef, ReleaseDetail } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { HealthText, StateBadge, SyncText } from "../badge/index.ts";
import {
  Actions,
  AdviceForRelease,
  Conditions,
  CopyButton,
  EventList,
  Fact,
  Facts,
  Failure,
  Loading,
  useDetail,
  usePageTitle,
} from "../detail/index.ts";
import { clusterKey, objectKey, plural, useFleet, useShownStates } from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";
import { AgentTabs } from "./agent-tabs.tsx";

export interface ReleasePageProps {
  readonly cluster: ClusterRef;
  readonly app: AppRef;
}

export function ReleasePage({ cluster, app }: ReleasePageProps) {
  const { apps, releaseChanges } = useFleet();
  const states = useShownStates();
  const key = clusterKey(cluster);
  usePageTitle(`${app.name} on ${cluster.name}`);
  const path = `/api/v1/clusters/${key}/releases/${app.kind}/${app.namespace}/${app.name}`;
  const { data: release, error } = useDetail<"release">(path, [
    apps.get(objectKey(app)),
    releaseChanges.get(key),
  ]);
  if (error !== null) return <Failure error={error} />;
  if (release === undefined) return <Loading />;
  const { state, suspended, message, since, sync, health, lastRequest } = release;
  return (
    <div className="detail">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link href="/clusters">Clusters</Link> /{" "}
        <Link href={`/clusters/${key}`}>{cluster.name}</Link> /{" "}
        <Link href={pageOf(app)}>
          {app.kind} {app.name}
        </Link>
      </nav>
      <header className="detail-head">
        <h1>
          {app.name} on {cluster.name}
        </h1>
        <StateBadge state={states.ofRelease(app, state)} suspended={suspended} />
        <span className="soft">
          sync: <SyncText sync={sync} /> health: <HealthText health={health} />
          {since !== undefined && (
            <>
              {" "}
              since <Ago at={since} style="age" />
            </>
          )}
        </span>
        <Actions
          target={app}
          actions={release.actions}
          scope={`Of ${app.kind} ${app.name}, on ${plural(apps.get(objectKey(app))?.desired ?? 1, "cluster")}:`}
        />
        {!release.connected && (
          <p className="detail-why">
            The cluster is offline: this is what its agent has reported last.
          </p>
        )}
        {message !== undefined && (
          <p className="detail-why">
            <Message text={message} />
          </p>
        )}
        {lastRequest !== undefined && <p className="detail-why">Last request: {lastRequest}.</p>}
        <AdviceForRelease release={release} cluster={key} />
      </header>
      <Objects {...release} />
      <AgentTabs path={path} release={release} change={changeOf(release)} />
      <div className="columns">
        <div className="column">
          <Installed {...release} />
          <Conditions conditions={release.conditions} above={message} />
        </div>
        <EventList events={release.events} />
      </div>
    </div>
  );
}

/** Another text as soon as the agent would answer something else; other releases of the cluster change nothing in it. */
function changeOf({ state, version, history, notReady, modified }: ReleaseDetail): string {
  return JSON.stringify([state, version, history[0], notReady, modified]);
}

function Objects({ notReady, modified, driftHistory }: ReleaseDetail) {
  if (notReady.length + modified.length + driftHistory.length === 0) return null;
  return (
    <section className="card" aria-labelledby="objects-title">
      <h2 id="objects-title">Objects that are not ready or were modified</h2>
      <ul className="conditions">
        {notReady.map(({ kind, namespace, name, state, message }) => (
          <li key={`${kind}/${namespace}/${name}`} className="condition">
            <strong>
              {kind} {namespace}/{name}
            </strong>
            <span className="soft">{state}</span>
            {message !== undefined && (
              <p>
                <Message text={message} />
              </p>
            )}
          </li>
        ))}
        {modified.map(({ kind, namespace, name, result, fields, manager, time }) => (
          <li key={`modified ${kind}/${namespace}/${name}`} className="condition">
            <strong>
              {kind} {namespace}/{name}
            </strong>
            <span className="soft">{result === "Missing" ? "missing" : "modified"}</span>
            <p>
              {fields.join(", ")} {manager !== undefined && `by ${manager} `}
              {time !== undefined && <Ago at={time} />}
            </p>
          </li>
        ))}
      </ul>
      {driftHistory.length > 0 && (
        <details>
          <summary>Drift history</summary>
          <ul className="conditions">
            {driftHistory.map(({ kind, namespace, name, result, fields, manager, time }) => (
              <li key={`${time} ${kind}/${namespace}/${name}`} className="condition">
                <strong>
                  {kind} {namespace}/{name}
                </strong>
                <span className="soft">
                  {result} {time !== undefined && <Ago at={time} />}
                </span>
                <p>
                  {fields.join(", ")} {manager !== undefined && `by ${manager}`}
                </p>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Installed({ release, version, desiredVersion, chartDigest, history }: ReleaseDetail) {
  return (
    <section className="card" aria-labelledby="installed-title">
      <h2 id="installed-title">Helm release</h2>
      <Facts>
        <Fact name="Release">{release ?? "not installed"}</Fact>
        <Fact name="Version">
          {version ?? "none"} {desiredVersion !== undefined && `(${desiredVersion} is desired)`}
        </Fact>
        {chartDigest !== undefined && (
          <Fact name="Chart digest">
            <code>{chartDigest.slice(0, 19)}…</code>{" "}
            <CopyButton text={chartDigest} what="the chart's digest" />
          </Fact>
        )}
      </Facts>
      <ul className="conditions">
        {history.map(({ revision, status, action, chartVersion, deployedAt }) => (
          <li key={revision} className="condition">
            <strong>
              Revision {revision}: {chartVersion}
            </strong>
            <span className="soft">
              {action} {status} {deployedAt !== undefined && <Ago at={deployedAt} />}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
