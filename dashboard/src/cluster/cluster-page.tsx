/** A cluster: its agent, and its releases with what is installed (sync) and whether it works (health). */
import type { ClusterDetail, ClusterRef, ClusterRelease } from "@flotilla/shared/dashboard";
import { useMemo } from "react";
import { Link } from "wouter";
import { releasePage } from "../address/index.ts";
import { HealthText, StateBadge, SyncText } from "../badge/index.ts";
import {
  AdviceAbout,
  Conditions,
  EventList,
  Fact,
  Facts,
  Failure,
  Loading,
  ObjectLink,
  Source,
  useDetail,
  usePageTitle,
} from "../detail/index.ts";
import {
  clusterKey,
  labelTexts,
  objectKey,
  plural,
  useFleet,
  useShownStates,
} from "../fleet/index.ts";
import { type Column, VirtualTable } from "../list/index.ts";
import { Message } from "../message/index.ts";
import { Week } from "../rollout/index.ts";
import { byUrgency, urgencyOf } from "../state/index.ts";
import { Ago, useNow } from "../time/index.ts";

export function ClusterPage(ref: ClusterRef) {
  const fleet = useFleet();
  const states = useShownStates();
  const key = clusterKey(ref);
  usePageTitle(`Cluster ${ref.name}`);
  const { data: cluster, error } = useDetail<"cluster">(`/api/v1/clusters/${key}`, [
    fleet.clusters.get(key),
    fleet.releaseChanges.get(key),
    fleet.scheduleChanges.get(ref.namespace),
  ]);
  if (error !== null) return <Failure error={error} />;
  if (cluster === undefined) return <Loading />;
  const { name, namespace, state, message, since, ready, desired } = cluster;
  return (
    <div className="detail">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link href="/clusters">Clusters</Link> / {namespace}
      </nav>
      <header className="detail-head">
        <h1>Cluster {name}</h1>
        <StateBadge state={states.ofCluster(cluster)} />
        <span className="soft">
          {ready} of {plural(desired, "release")} ready
          {since !== undefined && (
            <>
              , since <Ago at={since} style="age" />
            </>
          )}
        </span>
        {message !== undefined && state !== "Ready" && (
          <p className="detail-why">
            <Message text={message} />
          </p>
        )}
        {state === "Offline" && (
          <p className="detail-why">
            What is shown of its releases is what its agent has reported last.
          </p>
        )}
        <AdviceAbout object={{ kind: "Cluster", ...ref }} />
      </header>
      <Releases cluster={cluster} />
      <div className="columns">
        <div className="column">
          <Agent {...cluster} />
          {cluster.windows.length > 0 && <Windows windows={cluster.windows} />}
          <Conditions conditions={cluster.conditions} above={message} />
        </div>
        <EventList events={cluster.events} />
      </div>
      <Source yaml={cluster.yaml} />
    </div>
  );
}

function Releases({ cluster }: { readonly cluster: ClusterDetail }) {
  const { releases, hiddenReleases, orphans, awaited } = cluster;
  const states = useShownStates();
  const shown = useMemo(
    () =>
      releases
        .map((release) => ({ ...release, state: states.ofRelease(release.app, release.state) }))
        .toSorted(
          (one, other) =>
            byUrgency(one.state, other.state) || one.app.name.localeCompare(other.app.name),
        ),
    [releases, states],
  );
  const key = clusterKey(cluster);
  const { apps } = useFleet();
  const columns = useMemo(() => releaseColumns(key, apps), [key, apps]);
  return (
    <section className="card" aria-labelledby="releases-title">
      <h2 id="releases-title">Releases</h2>
      <VirtualTable
        name="Releases"
        rows={shown}
        keyOf={({ app }) => objectKey(app)}
        columns={columns}
        empty={
          hiddenReleases > 0
            ? "It has only releases that you may not see."
            : "No target of an app matches it."
        }
      />
      {hiddenReleases > 0 && (
        <p className="soft">
          {plural(hiddenReleases, "release")} of namespaces that you may not see.
        </p>
      )}
      {awaited.count > 0 && (
        <>
          <h3>Not reached by a rollout yet</h3>
          <ul className="examples">
            {awaited.first.map(({ app, rollout }) => (
              <li key={objectKey(app)}>
                <ObjectLink {...app} />
                {rollout.stage !== undefined && `, stage ${rollout.stage}`}
                {rollout.waits !== undefined && `: ${rollout.waits}`}
              </li>
            ))}
            {awaited.count > awaited.first.length && (
              <li className="soft">
                and {(awaited.count - awaited.first.length).toLocaleString("en")} more
              </li>
            )}
          </ul>
        </>
      )}
      {orphans.length > 0 && (
        <p>
          {plural(orphans.length, "orphan")}: the agent has {orphans.slice(0, 5).join(", ")}
          {orphans.length > 5 && ` and ${orphans.length - 5} more`}, which the hub does not know.
          What they installed keeps running.
        </p>
      )}
    </section>
  );
}

/** The Schedules that are for the cluster. */
function Windows({ windows }: Pick<ClusterDetail, "windows">) {
  const isOpen = windows.some((window) => window.isOpen);
  return (
    <section className="card" aria-labelledby="windows-title">
      <h2 id="windows-title">Windows</h2>
      <p className="soft">
        {isOpen
          ? "It may be changed now: a window is open."
          : "It is not changed now: all of its windows are closed."}
      </p>
      <Week windows={windows} />
    </section>
  );
}

type ShownRelease = Omit<ClusterRelease, "state"> & {
  readonly state: ClusterRelease["state"] | "Blocked";
};

/** `cluster`: as `NAMESPACE/NAME`. */
function releaseColumns(
  cluster: string,
  apps: ReadonlyMap<string, unknown>,
): readonly Column<ShownRelease>[] {
  return [
    {
      name: "App",
      width: 16,
      narrow: "line",
      cell({ app }) {
        const name = (
          <>
            <span className="soft">{app.kind}</span> {app.name}
          </>
        );
        // An app that was deleted has no pages; what is still to be uninstalled of it has a row.
        if (!apps.has(objectKey(app))) return name;
        return <Link href={releasePage(cluster, app)}>{name}</Link>;
      },
      sortBy: ({ app }) => app.name,
    },
    {
      name: "State",
      width: 12,
      narrow: "line",
      cell: ({ state, suspended, uninstalling }) =>
        uninstalling ? "Uninstalling" : <StateBadge state={state} suspended={suspended} />,
      sortBy: ({ state }) => urgencyOf(state),
    },
    {
      name: "Sync",
      width: 8,
      cell: ({ sync }) => <SyncText sync={sync} />,
      sortBy: ({ sync }) => sync,
    },
    {
      name: "Health",
      width: 8,
      cell: ({ health }) => <HealthText health={health} />,
      sortBy: ({ health }) => health,
    },
    {
      name: "Version",
      width: 10,
      cell: versionText,
      sortBy: ({ version }) => version,
    },
    {
      name: "Stage",
      width: 8,
      cell: ({ rollout }) => rollout?.stage ?? "",
      sortBy: ({ rollout }) => rollout?.stage ?? "",
    },
    {
      name: "Why",
      width: 12,
      grow: 1,
      narrow: "below",
      cell: (release) => <span title={whyText(release)}>{whyText(release)}</span>,
      narrowCell: (release) => (
        <>
          <span className="soft">
            {versionText(release)}
            {release.rollout?.stage !== undefined && `, stage ${release.rollout.stage}`}
          </span>
          {whyText(release) !== "" && <>: {whyText(release)}</>}
        </>
      ),
    },
  ];
}

/** Why it is not ready, and why it does not have what is rolled out. */
function whyText({ message = "", rollout }: ShownRelease): string {
  return [message, rollout?.waits ?? ""].filter((text) => text !== "").join("; ");
}

function versionText({ version = "", desiredVersion }: ShownRelease): string {
  if (desiredVersion === undefined) return version;
  return version === "" ? `→ ${desiredVersion}` : `${version} → ${desiredVersion}`;
}

function Agent({ agent, labels }: ClusterDetail) {
  const { connected, version, skew, since, namespace, replica, certificateExpiresAt, revokedAt } =
    agent;
  const now = useNow();
  return (
    <section className="card" aria-labelledby="agent-title">
      <h2 id="agent-title">Agent</h2>
      <Facts>
        <Fact name="Connection">
          {since === undefined ? (
            "It has never connected."
          ) : (
            <>
              {connected ? "connected" : "offline"} since <Ago at={since} style="age" />
            </>
          )}
        </Fact>
        {version !== undefined && (
          <Fact name="Version">
            {version} {skew}
          </Fact>
        )}
        {replica !== undefined && <Fact name="Hub replica">{replica}</Fact>}
        {namespace !== undefined && <Fact name="Namespace">{namespace}</Fact>}
        {certificateExpiresAt !== undefined && (
          <Fact name="Certificate">
            {connected && Date.parse(certificateExpiresAt) < now ? (
              "renewed since it connected"
            ) : (
              <>
                of its connection {Date.parse(certificateExpiresAt) < now ? "expired" : "expires"}{" "}
                <Ago at={certificateExpiresAt} />
              </>
            )}
          </Fact>
        )}
        {revokedAt !== undefined && <Fact name="Revoked">{revokedAt}</Fact>}
        <Fact name="Labels">{labelTexts(labels).join(", ")}</Fact>
      </Facts>
    </section>
  );
}
