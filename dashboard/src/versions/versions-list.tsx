/** How many clusters run which version; a version can be chosen. */
import { plural, type VersionCount } from "../fleet/index.ts";
import { toneOfVersion } from "./tones.ts";

export interface VersionsListProps {
  readonly counts: readonly VersionCount[];
  readonly choose: (version: string) => void;
}

export function VersionsList({ counts, choose }: VersionsListProps) {
  return (
    <ul className="versions">
      {counts.map(({ version, count }, index) => (
        <li key={version} className={`version tone-${toneOfVersion(index, version)}`}>
          <button type="button" className="version-choose" onClick={() => choose(version)}>
            <strong>{version === "" ? "no version" : version}</strong>{" "}
            <span className="soft">{plural(count, "cluster")}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
