/** One bar of the clusters by version: its parts grow and shrink while an upgrade goes through the fleet. */
import type { VersionCount } from "../fleet/index.ts";
import { toneOfVersion } from "./tones.ts";
import "./versions.css";

/** For eyes only: what it shows has to stand beside it as text. */
export function VersionsBar({ counts }: { readonly counts: readonly VersionCount[] }) {
  return (
    <div className="versions-bar" aria-hidden="true">
      {counts.map(({ version, count }, index) => (
        <span
          key={version}
          className={`versions-part tone-${toneOfVersion(index, version)}`}
          style={{ flexGrow: count }}
        />
      ))}
    </div>
  );
}
