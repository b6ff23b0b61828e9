/** How many clusters run which version; a version can be chosen. */
import { plural, type VersionCount, versionName, versionNote } from "../fleet/index.ts";
import { toneOfVersion } from "./tones.ts";

export interface VersionsListProps {
  readonly counts: readonly VersionCount[];
  readonly choose: (version: string) => void;
}

export function VersionsList({ counts, choose }: VersionsListProps) {
  return (
    <ul className="versions">
      {counts.map((counted, index) => {
        const { version, count } = counted;
        const note = versionNote(counted);
        return (
          <li key={version} className={`version tone-${toneOfVersion(index, version)}`}>
            <button type="button" className="version-choose" onClick={() => choose(version)}>
              <strong>{versionName(counted)}</strong>{" "}
              <span className="soft">
                {plural(count, "cluster")}
                {note !== "" && `, ${note}`}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
