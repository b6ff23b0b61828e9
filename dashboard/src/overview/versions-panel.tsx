/** Who runs which version, at a glance: a bar for each app, those whose clusters differ first. */
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import {
  mixedFirst,
  objectKey,
  useFleet,
  type VersionCount,
  versionName,
  versionNote,
  versionsOf,
} from "../fleet/index.ts";
import { VersionsBar } from "../versions/index.ts";

/** At first. */
const firstShown = 8;
const maxNamed = 3;

export function VersionsPanel() {
  const fleet = useFleet();
  const all = useMemo(() => mixedFirst(versionsOf(fleet)), [fleet]);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? all : all.slice(0, firstShown);
  if (all.length === 0) return null;
  return (
    <section className="card" aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      <ul className="app-versions">
        {shown.map(({ app, counts }) => (
          <li key={objectKey(app)} className="app-version">
            <Link href={pageOf(app)}>{app.name}</Link>
            <VersionsBar counts={counts} />
            <span className="soft">
              {counts.slice(0, maxNamed).map(textOf).join(", ")}
              {counts.length > maxNamed && `, and ${counts.length - maxNamed} more`}
            </span>
          </li>
        ))}
      </ul>
      {all.length > shown.length && (
        <button type="button" className="button" onClick={() => setWhole(true)}>
          Show {(all.length - shown.length).toLocaleString("en")} more
        </button>
      )}
    </section>
  );
}

function textOf(counted: VersionCount): string {
  const note = versionNote(counted);
  return `${versionName(counted)}: ${counted.count.toLocaleString("en")}${note === "" ? "" : ` (${note})`}`;
}
