/** What an approval is about: groups of clusters, and what Helm would change in them, object by object. */
import type { AppRef } from "@flotilla/shared/dashboard";
import type { FleetPlan, FleetPlanGroup } from "@flotilla/shared/plan";
import { useDetail } from "../detail/index.ts";
import { plural } from "../fleet/index.ts";
import { Message } from "../message/index.ts";
import { scrollRegion } from "../scroll/index.ts";
import { ClusterNames } from "./clusters.tsx";
import { countsOf, objectsOf } from "./plan-words.ts";
import { number } from "./words.ts";

export interface GatePlanProps {
  readonly app: AppRef;
  /** The Gate, and the digest of what it is about. */
  readonly gate: string;
  readonly digest: string;
}

/** Reads it: a Gate is about the same plan as long as its digest is the same. */
export function GatePlan({ app, gate, digest }: GatePlanProps) {
  const { kind, namespace, name } = app;
  const path = `/api/v1/apps/${kind}/${namespace}/${name}/gates/${gate}/plan`;
  const { data, error } = useDetail<"gatePlan">(path, [digest]);
  if (error !== null) return <p role="alert">What would change cannot be shown: {error.message}</p>;
  if (data === undefined) return <p className="soft">Loading …</p>;
  return <Plan app={app} plan={data} />;
}

function Plan({ app, plan }: { readonly app: AppRef; readonly plan: FleetPlan }) {
  const { groups, others, unchanged, unknown } = plan;
  return (
    <>
      <ol className="plan-groups">
        {groups.map((group) => (
          <Group key={`${group.result} ${group.clusters.first[0] ?? ""}`} app={app} group={group} />
        ))}
      </ol>
      {others.groups > 0 && (
        <p className="soft">
          {plural(others.groups, "group")} more in {plural(others.clusters, "cluster")}
        </p>
      )}
      {unchanged.count > 0 && (
        <p>
          Nothing would change in {plural(unchanged.count, "cluster")}:{" "}
          <ClusterNames app={app} {...unchanged} />
        </p>
      )}
      {unknown.map(({ reason, message, clusters }) => (
        <p key={`${reason} ${message}`}>
          Not known for {plural(clusters.count, "cluster")}:{" "}
          <ClusterNames app={app} {...clusters} />: <Message text={message} />
        </p>
      ))}
    </>
  );
}

function Group({ app, group }: { readonly app: AppRef; readonly group: FleetPlanGroup }) {
  const { clusters, diffs, message, text = "" } = group;
  return (
    <li className="plan-group">
      <strong>
        {countsOf(group)} in {plural(clusters.count, "cluster")}
      </strong>
      : <ClusterNames app={app} {...clusters} />
      {diffs > 1 && (
        <span className="soft">
          {" "}
          ({number(diffs)} different diffs with the same changed paths; one of them is shown)
        </span>
      )}
      {message !== undefined && (
        <p>
          <Message text={message} />
        </p>
      )}
      {objectsOf(text).map(({ title, lines }) => (
        <details key={`${title} ${lines}`} className="plan-object">
          <summary>{title}</summary>
          <pre {...scrollRegion}>{lines}</pre>
        </details>
      ))}
    </li>
  );
}
