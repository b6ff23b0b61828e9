/**
 * Buttons of actions. Each opens a panel that says what the action does and shows the command that does the same, before it is run. The
 * opened one is in the address, so that the palette and links open it.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useParameter } from "../address/index.ts";
import { messageOf } from "../api/index.ts";
import { useSession } from "../session/index.ts";
import { CopyButton } from "./parts.tsx";

/** What an action is sent with. */
export interface ActionGiven {
  /** The CSRF token of the session. */
  readonly csrfToken: string;
  /** What was entered; "": nothing. */
  readonly input: string;
}

export interface MenuAction {
  /** Its value in the address: unique on the page. */
  readonly id: string;
  readonly name: string;
  /** What it does. */
  readonly text: string;
  readonly allowed: boolean;
  /** Why it is not allowed. */
  readonly reason?: string | undefined;
  readonly command: string;
  /** The label of a text that is sent with it; absent: there is none. */
  readonly input?: string | undefined;
  /** Rejects with the error that is shown. */
  readonly run: (given: ActionGiven) => Promise<unknown>;
}

export interface ActionMenuProps {
  readonly actions: readonly MenuAction[];
  /** What they concern, where that is more than the page shows. */
  readonly scope?: string | undefined;
}

export const actionParameter = "action";

/** Those that the user may not run are there, too, with the reason. */
export function ActionMenu({ actions, scope }: ActionMenuProps) {
  const [opened, setOpened] = useParameter(actionParameter, "");
  return (
    <div className="actions">
      {scope !== undefined && actions.length > 0 && <span className="soft">{scope}</span>}
      {actions.map((action) => (
        <div key={action.id} className="action">
          <button
            type="button"
            className="button"
            aria-expanded={opened === action.id}
            aria-disabled={!action.allowed}
            title={action.reason}
            onClick={() => setOpened(opened === action.id ? "" : action.id)}
          >
            {action.name}
          </button>
          {opened === action.id && <ActionPanel action={action} close={() => setOpened("")} />}
        </div>
      ))}
    </div>
  );
}

const maxInputLength = 512;

function ActionPanel({
  action,
  close,
}: {
  readonly action: MenuAction;
  readonly close: () => void;
}) {
  const { name, text, allowed, reason, command, input, run } = action;
  const client = useQueryClient();
  const { csrfToken } = useSession();
  const [problem, setProblem] = useState(reason);
  const [isBusy, setBusy] = useState(false);
  const [value, setValue] = useState("");
  const panel = useRef<HTMLDivElement>(null);
  // The next tab stop is in it, also after the palette has opened it.
  useEffect(() => panel.current?.focus(), []);

  async function start(): Promise<void> {
    setBusy(true);
    try {
      await run({ csrfToken, input: value });
      void client.invalidateQueries({ queryKey: ["detail"] });
      close();
    } catch (thrown) {
      setProblem(messageOf(thrown));
      setBusy(false);
    }
  }

  return (
    <div className="action-panel" ref={panel} tabIndex={-1}>
      <p>{text}</p>
      <p>
        <code>{command}</code> <CopyButton text={command} what="the command" />
      </p>
      {input !== undefined && (
        <label className="action-input">
          {input}
          <input
            type="text"
            maxLength={maxInputLength}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        </label>
      )}
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
          onClick={() => void start()}
        >
          {isBusy ? "Requesting …" : name}
        </button>
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
      </div>
    </div>
  );
}
