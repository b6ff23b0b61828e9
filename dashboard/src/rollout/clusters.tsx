/** Clusters of a rollout by name, each with a link; at most ten are named. */
import type { AppRef } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { releasePage } from "../address/index.ts";
import { objectKey, releaseStateAt, useFleet } from "../fleet/index.ts";
import { number } from "./words.ts";

/** To its release, or to the cluster where there is none yet. */
export function ClusterLink({ app, cluster }: { readonly app: AppRef; readonly cluster: string }) {
  const { rows, columnOf } = useFleet();
  const state = releaseStateAt(rows.get(objectKey(app)), columnOf.get(cluster) ?? -1);
  const href = state === undefined ? `/clusters/${cluster}` : releasePage(cluster, app);
  return <Link href={href}>{cluster.slice(cluster.indexOf("/") + 1)}</Link>;
}

export interface ClusterNamesProps {
  readonly app: AppRef;
  readonly count: number;
  readonly first: readonly string[];
}

export function ClusterNames({ app, count, first }: ClusterNamesProps) {
  return (
    <>
      {first.map((cluster, index) => (
        <span key={cluster}>
          {index > 0 && ", "}
          <ClusterLink app={app} cluster={cluster} />
        </span>
      ))}
      {count > first.length && ` and ${number(count - first.length)} more`}
    </>
  );
}
