/** The clusters of the app's workspace: whether it is deployed there and why, and how it is there; the address has the filters. */
import type { AppRef, Target } from "@flotilla/shared/dashboard";
import { useMemo } from "react";
import { Link } from "wouter";
import { releasePage, useParameter } from "../address/index.ts";
import { StateBadge } from "../badge/index.ts";
import { slowPauseMs, useDetail } from "../detail/index.ts";
import { SearchField, SelectField } from "../field/index.ts";
import {
  clusterKey,
  countVersions,
  labelTexts,
  objectKey,
  type Row,
  releaseStateAt,
  useFleet,
  useShownStates,
  versionAt,
} from "../fleet/index.ts";
import { type Column, inStates, StateChips, VirtualTable } from "../list/index.ts";
import { urgencyOf } from "../state/index.ts";
import { filterTargets, noVersion, type ShownTarget } from "./filter-targets.ts";

export function TargetsPanel({ app }: { readonly app: AppRef }) {
  const { apps, clusters, rows, columnOf } = useFleet();
  const states = useShownStates();
  const { kind, namespace, name } = app;
  const path = `/api/v1/apps/${kind}/${namespace}/${name}/targets`;
  const key = objectKey(app);
  const row = rows.get(key);
  const { data, error } = useDetail<"targets">(path, [apps.get(key), row], slowPauseMs);
  const inside = data?.targets.filter(({ isTarget }) => isTarget).length ?? 0;
  // Where it is deployed nowhere, the clusters that are not targets have the reasons.
  const hasNone = data !== undefined && data.targets.length > 0 && inside === 0;
  const [chosen, setShow] = useParameter("show", "");
  const show = chosen === "" ? (hasNone ? "out" : "in") : chosen;
  const [version, setVersion] = useParameter("version", "");
  const [text, setText] = useParameter("text", "");
  const [state, setState] = useParameter("state", "");
  const ofAnyState = useMemo(() => {
    const shownAs = { kind, namespace, name };
    const targets = (data?.targets ?? [])
      .map((target) => asNow(target, row, columnOf))
      .map(
        ({ state: own, ...target }): ShownTarget =>
          own === undefined ? target : { ...target, state: states.ofRelease(shownAs, own) },
      );
    const labelsOf = (target: ShownTarget) =>
      labelTexts(clusters.get(clusterKey(target))?.labels ?? {});
    return filterTargets(targets, labelsOf, { show, version, text });
  }, [data, row, columnOf, clusters, states, kind, namespace, name, show, version, text]);
  const shown = useMemo(() => inStates(ofAnyState, state), [ofAnyState, state]);
  const versions = useMemo(
    () => countVersions(row).map((each) => each.version || noVersion),
    [row],
  );
  const columns = useMemo(() => columnsOf({ kind, namespace, name }), [kind, namespace, name]);
  return (
    <section className="card" aria-labelledby="targets-title">
      <div className="panel-head">
        <h2 id="targets-title">Clusters</h2>
        <label>
          Show{" "}
          <select value={show} onChange={(event) => setShow(event.target.value)}>
            <option value="in">targets ({inside})</option>
            <option value="out">others ({(data?.targets.length ?? 0) - inside})</option>
            <option value="all">all</option>
          </select>
        </label>
        <SelectField
          name="Version"
          all="every version"
          values={versions}
          value={version}
          onChange={setVersion}
        />
        <SearchField
          name="Filter clusters"
          placeholder="Filter clusters"
          value={text}
          onChange={setText}
        />
      </div>
      {error !== null && <p role="alert">{error.message}</p>}
      {data === undefined ? (
        error === null && <p className="soft">Loading …</p>
      ) : (
        <>
          <StateChips rows={ofAnyState} chosen={state} choose={setState} />
          <VirtualTable
            name="Clusters of this app"
            rows={shown}
            keyOf={clusterKey}
            columns={columns}
            empty={
              data.targets.length === 0
                ? "There is no Cluster in its workspace, or none that you may list."
                : "Nothing matches the filters."
            }
          />
        </>
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
    state,
    version: versionAt(row, column) || undefined,
    // The reason of another state is none of this one.
    ...(state !== target.state && { message: undefined }),
  };
}

function columnsOf(app: AppRef): readonly Column<ShownTarget>[] {
  return [
    {
      name: "Cluster",
      width: 14,
      narrow: "line",
      cell: (target) => <Name app={app} target={target} />,
      sortBy: (target) => target.name,
    },
    {
      name: "State",
      width: 11,
      narrow: "line",
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
      narrow: "below",
      cell: ({ message, why }) => <span title={`${message ?? ""} ${why}`}>{message ?? why}</span>,
      narrowCell: ({ version, message, why }) => (
        <>
          {version !== undefined && <span className="soft">{version}: </span>}
          {message ?? why}
        </>
      ),
    },
  ];
}

function Name({ app, target }: { readonly app: AppRef; readonly target: ShownTarget }) {
  return target.state === undefined ? (
    <Link href={`/clusters/${clusterKey(target)}`}>{target.name}</Link>
  ) : (
    <Link href={releasePage(clusterKey(target), app)}>{target.name}</Link>
  );
}
