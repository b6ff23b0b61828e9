/** Which cluster runs which version: a bar of the clusters by version. */
import type { AppRef } from "@flotilla/shared/dashboard";
import { objectKey, plural, type Row, useFleet, versionAt } from "../fleet/index.ts";
import "./versions-bar.css";

export interface VersionCount {
  /** "": nothing is installed yet. */
  readonly version: string;
  readonly count: number;
}

/** Newest first, as texts with numbers are compared. Pure. */
export function countVersions(row: Row | undefined): readonly VersionCount[] {
  const counts = new Map<string, number>();
  for (const [column, state] of (row?.states ?? []).entries()) {
    if (state === 0) continue;
    const version = versionAt(row, column);
    counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts]
    .map(([version, count]) => ({ version, count }))
    .sort((one, other) =>
      other.version.localeCompare(one.version, "en", { numeric: true, sensitivity: "base" }),
    );
}

export function VersionsBar({ app }: { readonly app: AppRef }) {
  const counts = countVersions(useFleet().rows.get(objectKey(app)));
  return (
    <section className="card" aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      {counts.length === 0 && <p className="soft">It is installed nowhere.</p>}
      <ul className="versions">
        {counts.map(({ version, count }, index) => (
          <li
            key={version}
            className={`version version-${Math.min(index, 4)}`}
            style={{ flexGrow: count }}
          >
            <strong>{version === "" ? "not installed" : version}</strong> {plural(count, "cluster")}
          </li>
        ))}
      </ul>
    </section>
  );
}
