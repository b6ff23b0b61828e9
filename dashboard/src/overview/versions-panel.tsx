/** Who runs which version, at a glance: a bar for each app, those whose clusters differ first. */
import { useMemo } from "react";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { mixedFirst, objectKey, useFleet, versionsOf } from "../fleet/index.ts";
import { VersionsBar } from "../versions/index.ts";

/** The others are in the list of apps. */
const maxShown = 8;
const maxNamed = 3;

export function VersionsPanel() {
  const fleet = useFleet();
  const all = useMemo(() => mixedFirst(versionsOf(fleet)), [fleet]);
  if (all.length === 0) return null;
  return (
    <section className="card" aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      <ul className="app-versions">
        {all.slice(0, maxShown).map(({ app, counts }) => (
          <li key={objectKey(app)} className="app-version">
            <Link href={pageOf(app)}>{app.name}</Link>
            <VersionsBar counts={counts} />
            <span className="soft">
              {counts
                .slice(0, maxNamed)
                .map(({ version, count }) => `${version || "no version"}: ${count}`)
                .join(", ")}
              {counts.length > maxNamed && `, and ${counts.length - maxNamed} more`}
            </span>
          </li>
        ))}
      </ul>
      {all.length > maxShown && <Link href="/apps">All {all.length} apps</Link>}
    </section>
  );
}
