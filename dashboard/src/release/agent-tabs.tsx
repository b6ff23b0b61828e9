/** What the agent of the cluster reads on request: logs, the diff with the cluster, Helm's whole history. */
import type { ReleaseDetail } from "@flotilla/shared/dashboard";
import { type ReactNode, useState } from "react";
import { useParameter } from "../address/index.ts";
import { Ago } from "../time/index.ts";
import { type Answer, useAnswer } from "./answer.ts";
import { kindOf } from "./diff-lines.ts";
import "./agent-tabs.css";

type Tab = "log" | "diff" | "history";

const tabs: readonly { readonly id: Tab; readonly name: string }[] = [
  { id: "log", name: "Logs" },
  { id: "diff", name: "Diff" },
  { id: "history", name: "History" },
];
const none = "none";

export interface AgentTabsProps {
  /** Of the release in the API. */
  readonly path: string;
  readonly release: ReleaseDetail;
}

export function AgentTabs({ path, release }: AgentTabsProps) {
  const [opened, setOpened] = useParameter("tab", none);
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
              onClick={() => setOpened(opened === id ? none : id)}
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
        {shown === undefined ? (
          <p className="soft">Read by the agent of the cluster when you ask, and not stored.</p>
        ) : (
          <Opened tab={shown.id} path={path} />
        )}
      </div>
    </section>
  );
}

function Opened({ tab, path }: { readonly tab: Tab; readonly path: string }) {
  switch (tab) {
    case "log":
      return <Logs path={path} />;
    case "diff":
      return <Diff path={path} />;
    case "history":
      return <History path={path} />;
  }
}

function Shown({ answer, children }: { readonly answer: Answer; readonly children: ReactNode }) {
  return (
    <>
      {answer.problem !== undefined && <p role="alert">{answer.problem}</p>}
      {children}
      {!answer.isComplete && <p className="soft">Reading …</p>}
    </>
  );
}

function Logs({ path }: { readonly path: string }) {
  const [isPrevious, setPrevious] = useState(false);
  const [text, setText] = useState("");
  const [read, setRead] = useState(0);
  const answer = useAnswer(`${path}/log?tail=200${isPrevious ? "&previous=true" : ""}`, read);
  const lines = answer.text.split("\n").filter((line) => line !== "" && line.includes(text));
  return (
    <>
      <div className="panel-head">
        <input
          type="search"
          aria-label="Search in the log"
          placeholder="Search in the log"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <label>
          <input
            type="checkbox"
            checked={isPrevious}
            onChange={(event) => setPrevious(event.target.checked)}
          />{" "}
          before the last restart
        </label>
        <button type="button" className="button" onClick={() => setRead(read + 1)}>
          Read again
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

function Diff({ path }: { readonly path: string }) {
  const answer = useAnswer(`${path}/diff`);
  const isSame = answer.isComplete && answer.problem === undefined && answer.text === "";
  return (
    <Shown answer={answer}>
      {isSame && <p>Every object in the cluster is as the manifest of the release has it.</p>}
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

interface Revision {
  readonly revision: number;
  readonly status: string;
  readonly chartName: string;
  readonly chartVersion: string;
  readonly deployedAt?: string;
  readonly description: string;
}

function History({ path }: { readonly path: string }) {
  const answer = useAnswer(`${path}/history`);
  const revisions = answer.text
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as Revision);
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
