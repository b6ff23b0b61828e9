/** What the user may decide about gates and command a rollout to do. */
import type {
  RolloutAction,
  RolloutActionName,
  RolloutActionRequest,
} from "@flotilla/shared/dashboard";
import { post } from "../api/index.ts";
import { ActionMenu } from "../detail/index.ts";

const names: Readonly<Record<RolloutActionName, string>> = {
  halt: "Halt",
  resume: "Resume rollout",
  rollback: "Roll back",
  cancel: "Cancel rollout",
  approve: "Approve",
  reject: "Reject",
  pass: "Pass",
  fail: "Fail",
};

export interface RolloutActionsProps {
  readonly actions: readonly RolloutAction[];
  readonly target: Pick<RolloutActionRequest, "namespace" | "rollout" | "uid" | "gate">;
}

export function RolloutActions({ actions, target }: RolloutActionsProps) {
  const { gate } = target;
  if (actions.length === 0) return null;
  return (
    <ActionMenu
      actions={actions.map(({ action, allowed, reason, effect, command }) => ({
        // Several gates may wait at once, and the app may be resumed, too.
        id: gate === undefined ? `rollout-${action}` : `${action}-${gate.name}`,
        name: names[action],
        text: effect,
        allowed,
        reason,
        command,
        ...(gate !== undefined && { input: "Why, or the number of a ticket (optional)" }),
        run: ({ csrfToken, input }) =>
          post<"actOnRollout">(
            "/api/v1/rollout-actions",
            { action, ...target, ...(input !== "" && { message: input }) },
            csrfToken,
          ),
      }))}
    />
  );
}
