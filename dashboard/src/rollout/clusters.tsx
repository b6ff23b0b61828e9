/** Clusters of a rollout by name, each with a link to its release; at most ten are named. */
import type { AppRef } from "@flotilla/shared/dashboard";
import { Link } from "wouter";
import { releasePage } from "../address/index.ts";
import { number } from "./words.ts";

export function ClusterLink({ app, cluster }: { readonly app: AppRef; readonly cluster: string }) {
  return <Link href={releasePage(cluster, app)}>{cluster.slice(cluster.indexOf("/") + 1)}</Link>;
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
