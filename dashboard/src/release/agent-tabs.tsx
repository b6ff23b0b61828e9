/** What the agent of the cluster reads on request: its objects, their events and logs, its values, the diff, Helm's whole history. */
import type { ReleaseDetail } from "@flotilla/shared/dashboard";
import { useParameter } from "../address/index.ts";
import { Values } from "../requests/index.ts";
import { DiffTab } from "./diff-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { HistoryTab } from "./history-tab.tsx";
import { LogsTab } from "./logs-tab.tsx";
import { ResourcesTab } from "./resources-tab.tsx";
import { tabAfter } from "./tab-after.ts";
import type { TabProps } from "./tab-props.ts";
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
  /** The path of the release in the API. */
  readonly path: string;
  readonly release: ReleaseDetail;
  /** Another text when the release has changed: what is shown is read again. */
  readonly change: string;
}

export function AgentTabs({ path, release, change }: AgentTabsProps) {
  const [opened, setOpened] = useParameter("tab", first);
  const [pod, setPod] = useParameter("pod", "");
  const offered = tabs.filter(({ id }) => release.requests.includes(id));
  // A tab that an address names may not exist, or may not be read by this user.
  const shown = offered.find(({ id }) => id === opened) ?? offered[0];
  return (
    <section className="card" aria-labelledby="agent-tabs-title">
      <div className="panel-head">
        <h2 id="agent-tabs-title">From the cluster</h2>
        <div
          className="tabs"
          role="tablist"
          aria-label="What to read from the cluster"
          onKeyDown={moveFocus}
        >
          {offered.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              role="tab"
              className="button"
              aria-selected={shown?.id === id}
              aria-controls="agent-tab"
              tabIndex={shown?.id === id ? 0 : -1}
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

/** Only the shown tab is a tab stop. The arrows move the focus alone: each tab is a request to the agent. */
function moveFocus(event: React.KeyboardEvent<HTMLElement>): void {
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')];
  const focused = all.findIndex((tab) => tab.matches(":focus"));
  const next = tabAfter(event.key, focused, all.length);
  if (next === undefined) return;
  event.preventDefault();
  all[next]?.focus();
}

interface OpenedProps extends TabProps {
  readonly tab: Tab;
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
      return <EventsTab path={path} change={change} />;
    case "values":
      return <Values path={path} change={change} />;
    case "log":
      return <LogsTab path={path} change={change} pod={pod} setPod={setPod} />;
    case "diff":
      return <DiffTab path={path} change={change} />;
    case "history":
      return <HistoryTab path={path} change={change} />;
  }
}
