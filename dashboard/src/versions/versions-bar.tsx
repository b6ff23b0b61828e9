/** One bar of the clusters by version, hatched where it is not ready: its parts grow and shrink while an upgrade goes through the fleet. */
import type { VersionCount } from "../fleet/index.ts";
import { toneOfVersion } from "./tones.ts";
import "./versions.css";

/** For eyes only: what it shows has to stand beside it as text. */
export function VersionsBar({ counts }: { readonly counts: readonly VersionCount[] }) {
  return (
    <div className="versions-bar" aria-hidden="true">
      {counts.flatMap(({ version, count, notReady }, index) => {
        const className = `versions-part tone-${toneOfVersion(index, version)}`;
        const parts = [
          { key: version, size: count - notReady, className },
          {
            key: `${version} not ready`,
            size: notReady,
            className: `${className} versions-not-ready`,
          },
        ];
        return parts
          .filter(({ size }) => size > 0)
          .map(({ key, size, className: look }) => (
            <span key={key} className={look} style={{ flexGrow: size }} />
          ));
      })}
    </div>
  );
}
