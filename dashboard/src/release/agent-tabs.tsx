/** What the agent of the cluster reads on request: its objects, their events and logs, its values, the diff, Helm's whole history. */
import type { ReleaseDetail } from "@flotilla/shared/dashboard";
import { useState } from "react";
import { useParameter } from "../address/index.ts";
import { SearchField } from "../field/index.ts";
import { entriesOf, Shown, useAnswer, Values } from "../requests/index.ts";
import { Ago } from "../time/index.ts";
import { kindOf } from "./diff-lines.ts";
import { ResourcesTab } from "./resources-tab.tsx";
import "./agent-tabs.css";

type Tab = "resources" | "events" | "values" | "log" | "diff" | "history";

const tabs: readonly { readonly id: Tab; readonly name: string }[] = [
  { id: "resources", name: "Resources" },
  { id: "events", name: "Events" },
  { id: "values", name: "Values" },
  { id: "log", name: "Logs" },
  { id: "diff", name: "Diff" },
  { id: "history", name: "History" },
];
/** Shown first: it answers why a release is not ready. */
const first: Tab = "resources";

export interface AgentTabsProps {
  /** Of the release in the API. */
  readonly path: string;
  readonly release: ReleaseDetail;
  /** Another text when the release has changed: what is shown is read again. */
  readonly change: string;
}

export function AgentTabs({ path, release, change }: AgentTabsProps) {
  const [opened, setOpened] = useParameter("tab", first);
  const [pod, setPod] = useParameter("pod", "");
  const offered = tabs.filter(({ id }) => release.requests.includes(id));
  const shown = offered.find(({ id }) => id === opened);
  return (
    <section className="card" aria-labelledby="agent-tabs-title">
      <div className="panel-head">
        <h2 id="agent-tabs-title">From the cluster</h2>
        <div className="tabs" role="tablist" aria-label="What to read from the cluster">
          {offered.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              role="tab"
              className="button"
              aria-selected={opened === id}
              aria-controls="agent-tab"
              onClick={() => setOpened(id)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      {offered.length === 0 && (
        <p className="soft">
          You may not read logs, diffs or histories here: that needs get on bundledeployments/log,
          diff and history in namespace {release.app.namespace}.
        </p>
      )}
      {!release.connected && (
        <p role="alert">
          The agent of this cluster is offline, so nothing can be read from it now.
        </p>
      )}
      <div id="agent-tab" role="tabpanel" aria-label={shown?.name ?? "Nothing chosen"}>
        {release.connected && shown !== undefined && (
          <Opened
            tab={shown.id}
            path={path}
            change={change}
            pod={pod}
            setPod={setPod}
            openLogs={
              release.requests.includes("log")
                ? (name) => {
                    setPod(name);
                    setOpened("log");
                  }
                : undefined
            }
          />
        )}
      </div>
    </section>
  );
}

interface OpenedProps {
  readonly tab: Tab;
  readonly path: string;
  readonly change: string;
  /** Only the logs of this pod; "": of all. */
  readonly pod: string;
  readonly setPod: (pod: string) => void;
  readonly openLogs: ((pod: string) => void) | undefined;
}

function Opened({ tab, path, change, pod, setPod, openLogs }: OpenedProps) {
  switch (tab) {
    case "resources":
      return <ResourcesTab path={path} change={change} openLogs={openLogs} />;
    case "events":
      return <Events path={path} change={change} />;
    case "values":
      return <Values path={path} change={change} />;
    case "log":
      return <Logs path={path} change={change} pod={pod} setPod={setPod} />;
    case "diff":
      return <Diff path={path} change={change} />;
    case "history":
      return <History path={path} change={change} />;
  }
}

function Logs({ path, change, pod, setPod }: Omit<OpenedProps, "tab" | "openLogs">) {
  const [isPrevious, setPrevious] = useState(false);
  const [text, setText] = useState("");
  const [read, setRead] = useState(0);
  const query = new URLSearchParams({
    tail: "200",
    ...(isPrevious && { previous: "true" }),
    ...(pod !== "" && { pod }),
  });
  const answer = useAnswer(`${path}/log?${query.toString()}`, `${read} ${change}`);
  const lines = answer.text.split("\n").filter((line) => line !== "" && line.includes(text));
  return (
    <>
      <div className="panel-head">
        <SearchField
          name="Search in the log"
          placeholder="Search in the log"
          value={text}
          onChange={setText}
        />
        <label>
          <input
            type="checkbox"
            checked={isPrevious}
            onChange={(event) => setPrevious(event.target.checked)}
          />{" "}
          previous container
        </label>
        {pod !== "" && (
          <button type="button" className="button" onClick={() => setPod("")}>
            Show all pods (only {pod} now)
          </button>
        )}
        <button type="button" className="button" onClick={() => setRead(read + 1)}>
          Refresh
        </button>
      </div>
      <Shown answer={answer}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard */}
        <pre className="lines" tabIndex={0}>
          {lines.join("\n")}
        </pre>
      </Shown>
    </>
  );
}

function Diff({ path, change }: Pick<OpenedProps, "path" | "change">) {
  const answer = useAnswer(`${path}/diff`, change);
  const isSame = answer.isComplete && answer.problem === undefined && answer.text === "";
  return (
    <Shown answer={answer}>
      {isSame && <p>All objects match the release's manifest.</p>}
      {answer.text !== "" && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard
        <pre className="lines" tabIndex={0}>
          {answer.text.split("\n").map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and none moves
            <span key={index} className={`diff-${kindOf(line)}`}>
              {line}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
    </Shown>
  );
}

interface ClusterEvent {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly object: { readonly kind: string; readonly namespace: string; readonly name: string };
}

function Events({ path, change }: Pick<OpenedProps, "path" | "change">) {
  const answer = useAnswer(`${path}/events`, change);
  const events = entriesOf<ClusterEvent>(answer.text);
  return (
    <Shown answer={answer}>
      {answer.isComplete && answer.problem === undefined && events.length === 0 && (
        <p>There are no events on its objects in the last hour.</p>
      )}
      <ul className="conditions">
        {events.map(({ time, type, reason, message, count, object }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events have no other identity, and none moves
          <li key={index} className="condition">
            <strong className={type === "Warning" ? "event-warning" : ""}>
              {reason}
              {count > 1 && ` (${count} times)`}
            </strong>
            <span className="soft">
              {object.kind} {object.name} <Ago at={time} />
            </span>
            <p>{message}</p>
          </li>
        ))}
      </ul>
    </Shown>
  );
}

interface Revision {
  readonly revision: number;
  readonly status: string;
  readonly chartName: string;
  readonly chartVersion: string;
  readonly deployedAt?: string;
  readonly description: string;
}

function History({ path, change }: Pick<OpenedProps, "path" | "change">) {
  const answer = useAnswer(`${path}/history`, change);
  const revisions = entriesOf<Revision>(answer.text);
  return (
    <Shown answer={answer}>
      <ul className="conditions">
        {revisions.map(({ revision, status, chartName, chartVersion, deployedAt, description }) => (
          <li key={revision} className="condition">
            <strong>
              Revision {revision}: {chartName} {chartVersion}
            </strong>
            <span className="soft">
              {status} {deployedAt !== undefined && <Ago at={deployedAt} />}
            </span>
            <p>{description}</p>
          </li>
        ))}
      </ul>
    </Shown>
  );
}
