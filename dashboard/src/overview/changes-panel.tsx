/** What is being deployed right now. What is blocked needs attention instead, and what is suspended waits for somebody. */
import type { App } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { blockerOf, objectKey, previousVersion, useFleet } from "../fleet/index.ts";
import { useCoarseNow } from "../time/index.ts";

export function ChangesPanel() {
  const fleet = useFleet();
  const now = useCoarseNow();
  const changing = [...fleet.apps.values()].filter(
    (app) => app.isChanging && !app.suspended && blockerOf(fleet, app, now) === undefined,
  );
  if (changing.length === 0) return null;
  return (
    <section className="card" aria-labelledby="changes-title">
      <h2 id="changes-title">In progress</h2>
      <ul className="changes">
        {changing.map((app) => (
          <Progress key={objectKey(app)} {...app} />
        ))}
      </ul>
    </section>
  );
}

function Progress(app: App) {
  const { name, version = "", ready, desired } = app;
  const before = previousVersion(useFleet().rows.get(objectKey(app)), version);
  return (
    <li className="change">
      <Link href={pageOf(app)}>
        {name}{" "}
        <span className="soft">
          {before !== undefined && `from ${before} `}
          {version !== "" && `to ${version}`}
        </span>
      </Link>
      <progress max={desired} value={ready} aria-label={`${name}: clusters that are ready`} />
      <span>
        {ready} of {desired}
      </span>
    </li>
  );
}
