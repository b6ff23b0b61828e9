/** A HelmOp, HelmRelease or Bundle: how it is, where its chart comes from, and where it goes and why. */
import type { AppDetail, AppRef } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { pageOf, useParameter } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import {
  Actions,
  AdviceAbout,
  Conditions,
  CopyButton,
  EventList,
  Examples,
  Fact,
  Facts,
  Failure,
  Loading,
  Source,
  useDetail,
  usePageTitle,
} from "../detail/index.ts";
import { objectKey, plural, useFleet, useShownStates } from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";
import { noVersion } from "./filter-targets.ts";
import { HistoryPanel } from "./history-panel.tsx";
import { RolloutPanel } from "./rollout-panel.tsx";
import { StagedRollout, StagedRollouts } from "./staged-rollout.tsx";
import { TargetsPanel } from "./targets-panel.tsx";
import { ValuesPanel } from "./values-panel.tsx";
import "./app-page.css";

export function AppPage(ref: AppRef) {
  const { apps, rows } = useFleet();
  const states = useShownStates();
  const key = objectKey(ref);
  usePageTitle(`${ref.kind} ${ref.name}`);
  const [, setVersion] = useParameter("version", "");
  const { kind, namespace, name } = ref;
  const path = `/api/v1/apps/${kind}/${namespace}/${name}`;
  const { data: app, error } = useDetail<"app">(path, [apps.get(key), rows.get(key)]);
  if (error !== null) return <Failure error={error} />;
  if (app === undefined) return <Loading />;
  const { state, suspended, message, since, ready, desired, examples = [] } = app;
  return (
    <div className="detail">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link href="/apps">Apps</Link> / {namespace}
      </nav>
      <header className="detail-head">
        <h1>
          {kind} {name}
        </h1>
        <StateBadge state={states.ofApp(app)} suspended={suspended} />
        <span className="soft">
          ready on {ready} of {plural(desired, "cluster")}
          {since !== undefined && (
            <>
              , since <Ago at={since} style="age" />
            </>
          )}
          {app.changedAt !== undefined && (
            <>
              , changed <Ago at={app.changedAt} /> by the field manager {app.changedBy}
            </>
          )}
        </span>
        <Actions target={ref} actions={app.actions} />
        {examples.length > 0 && (
          <div className="detail-why">
            <Examples app={ref} examples={examples} count={desired - ready} />
          </div>
        )}
        {examples.length === 0 && message !== undefined && state !== "Ready" && (
          <p className="detail-why">
            <Message text={message} />
          </p>
        )}
        {app.lastRequest !== undefined && <LastRequest lines={app.lastRequest} />}
        <AdviceAbout object={ref} />
      </header>
      <StagedRollout app={ref} />
      <div className="columns">
        <ChartPanel {...app} />
        <RolloutPanel app={ref} chooseVersion={(version) => setVersion(version || noVersion)} />
      </div>
      <TargetsPanel app={ref} />
      <div className="columns">
        <div className="column">
          <Conditions conditions={app.conditions} above={message} />
          <StagedRollouts app={ref} />
          <HistoryPanel app={ref} />
        </div>
        <EventList events={app.events} />
      </div>
      <ValuesPanel app={ref} />
      <Source yaml={app.yaml} />
    </div>
  );
}

/** What the clusters have answered to the last request to reconcile it. */
function LastRequest({ lines }: { readonly lines: readonly string[] }) {
  const [first = "", ...others] = lines;
  if (others.length === 0)
    return (
      <p className="detail-why">
        Last request: <Message text={first} />.
      </p>
    );
  return (
    <div className="detail-why">
      Last request:
      <ul>
        {lines.map((line) => (
          <li key={line}>
            <Message text={line} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function ChartPanel({ charts, source, polling }: AppDetail) {
  const { interval, last, next, failures, error } = polling;
  return (
    <section className="card" aria-labelledby="chart-title">
      <h2 id="chart-title">Chart</h2>
      {charts.map(({ repo, chart, constraint, version, url, digest, note }) => (
        <Facts key={`${repo} ${chart} ${constraint}`}>
          <Fact name="Chart">{chart === "" ? repo : `${chart} from ${repo}`}</Fact>
          <Fact name="Constraint">{constraint === "" ? "the newest version" : constraint}</Fact>
          <Fact name="Resolved to">{version ?? "not resolved yet"}</Fact>
          {url !== undefined && <Fact name="Archive">{url}</Fact>}
          {digest !== undefined && (
            <Fact name="Digest">
              <code>{digest.slice(0, 19)}…</code> <CopyButton text={digest} what="the digest" />
            </Fact>
          )}
          {note !== undefined && <Fact name="Note">{note}</Fact>}
        </Facts>
      ))}
      <Facts>
        {source !== undefined && (
          <Fact name="Source">
            <Link href={pageOf(source)}>
              {source.kind} {source.namespace}/{source.name}
            </Link>
          </Fact>
        )}
        {interval !== undefined && <Fact name="Polled every">{interval}</Fact>}
        {last !== undefined && (
          <Fact name="Last poll">
            <Ago at={last} /> {error === undefined ? "succeeded" : `failed: ${error}`}
          </Fact>
        )}
        {next !== undefined && (
          <Fact name="Next poll">
            <Ago at={next} style="due" /> {failures > 0 && `after ${plural(failures, "failure")}`}
          </Fact>
        )}
      </Facts>
    </section>
  );
}
