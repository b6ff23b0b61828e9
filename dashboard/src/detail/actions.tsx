/** What the user may change: each action says what it does and shows the command that does the same before it is run. */
import type { Action, ActionName, ActionRequest } from "@flotilla/shared/dashboard";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf, post } from "../api/index.ts";
import { useSession } from "../session/index.ts";
import { CopyButton } from "./parts.tsx";

const looks: Readonly<Record<ActionName, { readonly name: string; readonly text: string }>> = {
  poll: { name: "Poll now", text: "Poll the source now; deploy a newer version if there is one." },
  reconcile: {
    name: "Reconcile",
    text: "Resolve its chart again, and reconcile its releases in all clusters.",
  },
  retry: { name: "Retry", text: "Retry failed releases and reset their failure count." },
  force: { name: "Force", text: "Upgrade its releases with Helm, whatever their state." },
  suspend: { name: "Suspend", text: "Stop reconciling until it is resumed." },
  resume: { name: "Resume", text: "Resume reconciling with the current spec." },
};

export interface ActionsProps {
  readonly target: Pick<ActionRequest, "kind" | "namespace" | "name">;
  readonly actions: readonly Action[];
}

export function Actions({ target, actions }: ActionsProps) {
  const [opened, setOpened] = useState<ActionName>();
  return (
    <div className="actions">
      {actions.map((action) => (
        <div key={action.action} className="action">
          <button
            type="button"
            className="button"
            aria-expanded={opened === action.action}
            onClick={() => setOpened(opened === action.action ? undefined : action.action)}
          >
            {looks[action.action].name}
          </button>
          {opened === action.action && (
            <ActionPanel target={target} {...action} close={() => setOpened(undefined)} />
          )}
        </div>
      ))}
    </div>
  );
}

function ActionPanel({
  target,
  action,
  allowed,
  reason,
  command,
  close,
}: Action & Pick<ActionsProps, "target"> & { readonly close: () => void }) {
  const client = useQueryClient();
  const { csrfToken } = useSession();
  const [problem, setProblem] = useState(reason);
  const [isBusy, setBusy] = useState(false);

  async function run(): Promise<void> {
    setBusy(true);
    try {
      await post<"act">("/api/v1/actions", { action, ...target }, csrfToken);
      void client.invalidateQueries({ queryKey: ["detail"] });
      close();
    } catch (thrown) {
      setProblem(messageOf(thrown));
      setBusy(false);
    }
  }

  return (
    <div className="action-panel">
      <p>{looks[action].text}</p>
      <p>
        <code>{command}</code> <CopyButton text={command} what="the command" />
      </p>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <div className="action-buttons">
        <button
          type="button"
          className="button button-primary"
          disabled={!allowed || isBusy}
          onClick={() => void run()}
        >
          {isBusy ? "Requesting …" : looks[action].name}
        </button>
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
      </div>
    </div>
  );
}
