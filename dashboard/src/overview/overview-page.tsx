/** Is everything all right? If not: what, where, since when, and what to do. Then who runs what, and what happens now. */
import { useMemo } from "react";
import { StateIcon } from "../badge/index.ts";
import { concernsOf, headline, useFleet } from "../fleet/index.ts";
import { AttentionList } from "./attention-list.tsx";
import { ChangesPanel } from "./changes-panel.tsx";
import { CountsBar } from "./counts-bar.tsx";
import { EventsPanel } from "./events-panel.tsx";
import { FleetPanel } from "./fleet-panel.tsx";
import { VersionsPanel } from "./versions-panel.tsx";
import "./overview-page.css";

export function OverviewPage() {
  const fleet = useFleet();
  const concerns = useMemo(() => concernsOf(fleet), [fleet]);
  return (
    <div className="overview">
      <header className="overview-head">
        <h1>
          <StateIcon tone={concerns.length === 0 ? "good" : "bad"} /> {headline(fleet, concerns)}
        </h1>
        <CountsBar name="Apps" href="/apps" all={fleet.apps} />
        <CountsBar name="Clusters" href="/clusters" all={fleet.clusters} />
      </header>
      {concerns.length > 0 && <AttentionList concerns={concerns} />}
      <ChangesPanel />
      <FleetPanel />
      <VersionsPanel />
      <EventsPanel />
    </div>
  );
}
