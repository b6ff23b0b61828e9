/** The clusters of the app's workspace: whether it is deployed there and why, and how it is there. */
import type { AppRef, Target } from "@flotilla/shared/dashboard";
import { useMemo } from "react";
import { Link } from "wouter";
import { releasePage, useParameter } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import { slowPauseMs, useDetail } from "../detail/index.ts";
import { SearchField } from "../field/index.ts";
import {
  clusterKey,
  objectKey,
  type Row,
  releaseStateAt,
  useFleet,
  versionAt,
} from "../fleet/index.ts";
import { type Column, VirtualTable } from "../list/index.ts";
import { byUrgency, urgencyOf } from "../state/index.ts";

export interface TargetsPanelProps {
  readonly app: AppRef;
  /** The filter. */
  readonly text: string;
  readonly setText: (text: string) => void;
}

export function TargetsPanel({ app, text, setText }: TargetsPanelProps) {
  const { apps, rows, columnOf } = useFleet();
  const { kind, namespace, name } = app;
  const path = `/api/v1/apps/${kind}/${namespace}/${name}/targets`;
  const key = objectKey(app);
  const row = rows.get(key);
  const { data, error } = useDetail<"targets">(path, [apps.get(key), row], slowPauseMs);
  const [choice, setChoice] = useParameter("show", "in");
  const shown = useMemo(
    () =>
      (data?.targets ?? [])
        .map((target) => asNow(target, row, columnOf))
        .filter(({ isTarget }) => choice === "all" || isTarget === (choice === "in"))
        .filter((target) => hasText(target, text))
        .sort(
          (one, other) =>
            byUrgency(one.state ?? "Ready", other.state ?? "Ready") ||
            one.name.localeCompare(other.name),
        ),
    [data, row, columnOf, choice, text],
  );
  const columns = useMemo(() => columnsOf({ kind, namespace, name }), [kind, namespace, name]);
  const inside = data?.targets.filter(({ isTarget }) => isTarget).length ?? 0;
  return (
    <section className="card" aria-labelledby="targets-title">
      <div className="panel-head">
        <h2 id="targets-title">Clusters</h2>
        <label>
          Show{" "}
          <select value={choice} onChange={(event) => setChoice(event.target.value)}>
            <option value="in">targets ({inside})</option>
            <option value="out">others ({(data?.targets.length ?? 0) - inside})</option>
            <option value="all">all</option>
          </select>
        </label>
        <SearchField
          name="Filter clusters"
          placeholder="Filter clusters"
          value={text}
          onChange={setText}
        />
      </div>
      {error !== null && <p role="alert">{error.message}</p>}
      {data === undefined ? (
        error === null && <p className="soft">Reading …</p>
      ) : (
        <VirtualTable
          name="Clusters of this app"
          rows={shown}
          keyOf={clusterKey}
          columns={columns}
        />
      )}
    </section>
  );
}

/** With the state and version of now: the rest is read less often. */
function asNow(
  target: Target,
  row: Row | undefined,
  columnOf: ReadonlyMap<string, number>,
): Target {
  const column = columnOf.get(clusterKey(target)) ?? -1;
  const state = releaseStateAt(row, column);
  return {
    ...target,
    ...{ state, version: versionAt(row, column) || undefined },
    // The reason of another state is none of this one.
    ...(state !== target.state && { message: undefined }),
  };
}

function columnsOf(app: AppRef): readonly Column<Target>[] {
  return [
    {
      name: "Cluster",
      width: 14,
      cell: (target) => <Name app={app} target={target} />,
      sortBy: (target) => target.name,
    },
    {
      name: "State",
      width: 11,
      cell: ({ state }) =>
        state === undefined ? <span className="soft">none</span> : <StateBadge state={state} />,
      sortBy: ({ state }) => (state === undefined ? undefined : urgencyOf(state)),
    },
    {
      name: "Version",
      width: 8,
      cell: ({ version }) => version ?? "",
      sortBy: ({ version }) => version,
    },
    {
      name: "Why",
      width: 14,
      grow: 1,
      cell: ({ message, why }) => <span title={`${message ?? ""} ${why}`}>{message ?? why}</span>,
    },
  ];
}

function hasText({ namespace, name, why, version = "", message = "" }: Target, text: string) {
  return [`${namespace}/${name}`, why, version, message].some((each) => each.includes(text));
}

function Name({ app, target }: { readonly app: AppRef; readonly target: Target }) {
  return target.state === undefined ? (
    <Link href={`/clusters/${clusterKey(target)}`}>{target.name}</Link>
  ) : (
    <Link href={releasePage(clusterKey(target), app)}>{target.name}</Link>
  );
}
