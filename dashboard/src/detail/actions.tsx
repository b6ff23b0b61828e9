/** What the user may change on an app or a source. */
import type { Action, ActionName, ActionRequest } from "@flotilla/shared/dashboard";
import { post } from "../api/index.ts";
import { ActionMenu, actionParameter } from "./action-menu.tsx";

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

/** The address of the page that is shown, with the action opened. */
export function actionAddress(action: ActionName): string {
  const parameters = new URLSearchParams(location.search);
  parameters.set(actionParameter, action);
  return `${location.pathname}?${parameters.toString()}`;
}

export interface ActionsProps {
  readonly target: Pick<ActionRequest, "kind" | "namespace" | "name">;
  readonly actions: readonly Action[];
  /** What they concern, where that is more than the page shows. */
  readonly scope?: string;
}

export function Actions({ target, actions, scope }: ActionsProps) {
  return (
    <ActionMenu
      scope={scope}
      actions={actions.map(({ action, allowed, reason, command }) => ({
        id: action,
        ...looks[action],
        allowed,
        reason,
        command,
        run: ({ csrfToken }) => post<"act">("/api/v1/actions", { action, ...target }, csrfToken),
      }))}
    />
  );
}
