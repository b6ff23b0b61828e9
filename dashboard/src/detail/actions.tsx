/**
 * What the user may change: each action says what it does and shows the command that does the same before it is run. The opened one is
 * in the address, so that the palette and links open it.
 */
import type { Action, ActionName, ActionRequest } from "@flotilla/shared/dashboard";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useParameter } from "../address/index.ts";
import { messageOf, post } from "../api/index.ts";
import { useSession } from "../session/index.ts";
import { CopyButton } from "./parts.tsx";

const looks: Readonly<Record<ActionName, { readonly name: string; readonly text: string }>> = {
  poll: { name: "Poll now", text: "Poll the source now; deploy a newer version if there is one." },
  reconcile: {
    name: "Reconcile",
    text: "Resolve its chart again, and reconcile its releases in all clusters. Drift that is only reported stays.",
  },
  "correct-drift": {
    name: "Correct drift",
    text: "Change back, once, what others have changed in the objects of its releases. Helm does not run.",
  },
  retry: { name: "Retry", text: "Retry failed releases and reset their failure count." },
  force: { name: "Force", text: "Upgrade its releases with Helm, whatever their state." },
  suspend: { name: "Suspend", text: "Stop reconciling until it is resumed." },
  resume: { name: "Resume", text: "Resume reconciling with the current spec." },
};

export function actionName(action: ActionName): string {
  return looks[action].name;
}

const parameter = "action";

/** The address of the page that is shown, with the action opened. */
export function actionAddress(action: ActionName): string {
  const parameters = new URLSearchParams(location.search);
  parameters.set(parameter, action);
  return `${location.pathname}?${parameters.toString()}`;
}

export interface ActionsProps {
  readonly target: Pick<ActionRequest, "kind" | "namespace" | "name">;
  readonly actions: readonly Action[];
  /** What they concern, where that is more than the page shows. */
  readonly scope?: string;
}

/** Those that the user may not run are there, too, with the reason. */
export function Actions({ target, actions, scope }: ActionsProps) {
  const [opened, setOpened] = useParameter(parameter, "");
  return (
    <div className="actions">
      {scope !== undefined && actions.length > 0 && <span className="soft">{scope}</span>}
      {actions.map((action) => (
        <div key={action.action} className="action">
          <button
            type="button"
            className="button"
            aria-expanded={opened === action.action}
            aria-disabled={!action.allowed}
            title={action.reason}
            onClick={() => setOpened(opened === action.action ? "" : action.action)}
          >
            {actionName(action.action)}
          </button>
          {opened === action.action && (
            <ActionPanel target={target} {...action} close={() => setOpened("")} />
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
  const panel = useRef<HTMLDivElement>(null);
  // The next tab stop is in it, also after the palette has opened it.
  useEffect(() => panel.current?.focus(), []);

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
    <div className="action-panel" ref={panel} tabIndex={-1}>
      <p>{looks[action].text}</p>
      <p>
        <code>{command}</code> <CopyButton text={command} what="the command" />
      </p>
      {problem !== undefined && (
        <p role="alert" className="action-problem">
          {problem}
        </p>
      )}
      <div className="action-buttons">
        <button
          type="button"
          className="button button-primary"
          disabled={!allowed || isBusy}
          onClick={() => void run()}
        >
          {isBusy ? "Requesting …" : actionName(action)}
        </button>
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
      </div>
    </div>
  );
}
