/** A source of Flux: whether it can be read, what was found, and which HelmReleases use it. */
import type { SourceKind } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import {
  Actions,
  AdviceAbout,
  Conditions,
  CopyButton,
  EventList,
  Fact,
  Facts,
  Failure,
  Loading,
  Source,
  useDetail,
  usePageTitle,
} from "../detail/index.ts";
import { objectKey, useFleet } from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { Ago } from "../time/index.ts";

export interface SourcePageProps {
  readonly kind: SourceKind;
  readonly namespace: string;
  readonly name: string;
}

export function SourcePage(ref: SourcePageProps) {
  const { sources } = useFleet();
  const { kind, namespace, name } = ref;
  usePageTitle(`${kind} ${name}`);
  const { data: source, error } = useDetail<"source">(
    `/api/v1/sources/${kind}/${namespace}/${name}`,
    [sources.get(objectKey(ref))],
  );
  if (error !== null) return <Failure error={error} />;
  if (source === undefined) return <Loading />;
  const { state, suspended, message, since, url, revision, digest, polling, usedBy } = source;
  return (
    <div className="detail">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link href="/sources">Sources</Link> / {namespace}
      </nav>
      <header className="detail-head">
        <h1>
          {kind} {name}
        </h1>
        <StateBadge state={state} suspended={suspended} />
        {since !== undefined && (
          <span className="soft">
            since <Ago at={since} style="age" />
            {source.changedAt !== undefined && (
              <>
                , changed <Ago at={source.changedAt} /> by the field manager {source.changedBy}
              </>
            )}
          </span>
        )}
        <Actions target={ref} actions={source.actions} />
        {message !== undefined && (
          <p className="detail-why">
            <Message text={message} />
          </p>
        )}
        <AdviceAbout object={ref} />
      </header>
      <div className="columns">
        <div className="column">
          <section className="card" aria-labelledby="source-title">
            <h2 id="source-title">Source</h2>
            <Facts>
              <Fact name="Address">{url}</Fact>
              {revision !== undefined && <Fact name="Revision">{revision}</Fact>}
              {digest !== undefined && (
                <Fact name="Digest">
                  <code>{digest.slice(0, 19)}…</code> <CopyButton text={digest} what="the digest" />
                </Fact>
              )}
              {polling.interval !== undefined && <Fact name="Interval">{polling.interval}</Fact>}
              {polling.last !== undefined && (
                <Fact name="Last fetch">
                  <Ago at={polling.last} />{" "}
                  {polling.error === undefined ? "succeeded" : `failed: ${polling.error}`}
                </Fact>
              )}
              {polling.next !== undefined && (
                <Fact name="Next fetch">
                  <Ago at={polling.next} style="due" />
                </Fact>
              )}
              <Fact name="Used by">
                {usedBy.length === 0 && "no HelmRelease that you may see"}
                {usedBy.map((app) => (
                  <span key={objectKey(app)}>
                    <Link href={pageOf(app)}>
                      {app.namespace}/{app.name}
                    </Link>{" "}
                  </span>
                ))}
              </Fact>
            </Facts>
          </section>
          <Conditions conditions={source.conditions} above={message} />
        </div>
        <EventList events={source.events} />
      </div>
      <Source yaml={source.yaml} />
    </div>
  );
}
