/** Which cluster runs which version of one app. */
import type { AppRef } from "@flotilla/shared/dashboard";
import { countVersions, objectKey, plural, useFleet } from "../fleet/index.ts";
import { VersionsBar } from "./versions-bar.tsx";

export function VersionsCard({ app }: { readonly app: AppRef }) {
  const counts = countVersions(useFleet().rows.get(objectKey(app)));
  return (
    <section className="card" aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      {counts.length === 0 ? (
        <p className="soft">It is installed nowhere.</p>
      ) : (
        <VersionsBar counts={counts} />
      )}
      <ul className="versions">
        {counts.map(({ version, count }, index) => (
          <li key={version} className={`version version-${Math.min(index, 4)}`}>
            <strong>{version === "" ? "not installed" : version}</strong> {plural(count, "cluster")}
          </li>
        ))}
      </ul>
    </section>
  );
}
