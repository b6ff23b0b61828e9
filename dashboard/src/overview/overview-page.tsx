/** Is everything all right? If not: what, where, since when, and what to do. Then who runs what, and what happens now. */
import { type ReactNode, useMemo } from "react";
import { useParameter } from "../address/index.ts";
import { StateIcon } from "../badge/index.ts";
import { usePageTitle } from "../detail/index.ts";
import { NamespaceField } from "../field/index.ts";
import {
  concernsOf,
  decisionsOf,
  FleetOfNamespace,
  headline,
  namespacesOf,
  useFleet,
  useShownStates,
} from "../fleet/index.ts";
import { useCoarseNow } from "../time/index.ts";
import { AttentionList } from "./attention-list.tsx";
import { ChangesPanel } from "./changes-panel.tsx";
import { CountsBar } from "./counts-bar.tsx";
import { DecisionsPanel } from "./decisions-panel.tsx";
import { EventsPanel } from "./events-panel.tsx";
import { FleetPanel } from "./fleet-panel.tsx";
import { VersionsPanel } from "./versions-panel.tsx";
import "./overview-page.css";

export function OverviewPage() {
  const [namespace, setNamespace] = useParameter("namespace", "");
  const namespaces = namespacesOf(useFleet());
  return (
    <FleetOfNamespace namespace={namespace}>
      <Overview namespace={namespace}>
        <NamespaceField values={namespaces} value={namespace} onChange={setNamespace} />
      </Overview>
    </FleetOfNamespace>
  );
}

interface OverviewProps {
  /** "": every namespace. */
  readonly namespace: string;
  /** Beside the headline. */
  readonly children: ReactNode;
}

function Overview({ namespace, children }: OverviewProps) {
  const fleet = useFleet();
  const now = useCoarseNow();
  const states = useShownStates();
  const [apps, clusters] = useMemo(
    () => [
      [...fleet.apps.values()].map((app) => ({ ...app, state: states.ofApp(app) })),
      [...fleet.clusters.values()].map((cluster) => ({
        state: states.ofCluster(cluster),
      })),
    ],
    [fleet, states],
  );
  const concerns = useMemo(() => concernsOf(fleet, now), [fleet, now]);
  const decisions = useMemo(() => decisionsOf(fleet), [fleet]);
  const isWaiting = concerns.length === 0 && decisions.length > 0;
  const tone = isWaiting ? "warn" : concerns.length === 0 ? "good" : "bad";
  usePageTitle(
    concerns.length === 0
      ? ""
      : `${concerns.length} ${concerns.length === 1 ? "needs" : "need"} attention`,
  );
  return (
    <div className="overview">
      <header className="overview-head">
        <div className="panel-head">
          <h1>
            <StateIcon tone={tone} /> {headline(fleet, concerns, decisions)}
          </h1>
          {children}
        </div>
        <CountsBar name="Apps" href="/apps" namespace={namespace} all={apps} />
        <CountsBar name="Clusters" href="/clusters" namespace={namespace} all={clusters} />
      </header>
      {concerns.length > 0 && <AttentionList concerns={concerns} />}
      {decisions.length > 0 && <DecisionsPanel decisions={decisions} />}
      <ChangesPanel />
      <FleetPanel />
      <VersionsPanel />
      <EventsPanel />
    </div>
  );
}
