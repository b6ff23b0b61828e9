/** What is being deployed right now. */
import type { App } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { pageOf } from "../address/index.ts";
import { objectKey, previousVersion, useFleet } from "../fleet/index.ts";

export function ChangesPanel() {
  const changing = [...useFleet().apps.values()].filter(({ isChanging }) => isChanging);
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
