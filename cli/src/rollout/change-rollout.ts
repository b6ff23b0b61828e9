/** Makes a change of a rollout: reads it, says what will happen, asks, and writes with the version that was read. */
import { isDeepStrictEqual } from "node:util";
import { appDefinition } from "@flotilla/shared/api/apps";
import { requestAnnotations, tokensOf } from "@flotilla/shared/api/names";
import { type BundleRollout, bundleRollouts } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import { isConflict, type KubeRest } from "@flotilla/shared/kube/client";
import { cliErrors } from "../errors.ts";
import {
  type ChangeFacts,
  type ChangePlan,
  planChange,
  type RolloutChange,
} from "./change-plan.ts";
import { confirm, type Terminal } from "./confirm.ts";
import { type AppRef, newestRollout } from "./find-rollouts.ts";
import { kubectlCommand } from "./kubectl-command.ts";
import { readPromoted } from "./read-promoted.ts";

export interface ChangeOptions {
  readonly rest: KubeRest;
  readonly app: AppRef;
  readonly change: RolloutChange;
  /** Nobody is asked. */
  readonly yes: boolean;
  readonly terminal: Terminal;
  /** Prints a line for the user. */
  readonly print: (line: string) => void;
}

type Change = Extract<ChangePlan, { readonly kind: "change" }>;

/** The hub writes the status up to once a second while clusters report. */
const mostAttempts = 8;

/**
 * Throws ROLLOUT_NOT_FOUND, NOT_CONFIRMED, and ROLLOUT_REFUSED when its phase does not allow the change, or it has become another one
 * since it was shown.
 */
export async function changeRollout(options: ChangeOptions): Promise<void> {
  const { rest, app, change, yes, terminal, print } = options;
  let facts = await readFacts(options);
  const { uid } = facts.rollout.metadata;
  const plan = planChange(change, facts);
  if (plan.kind === "refused") throw new AppError(cliErrors.ROLLOUT_REFUSED, plan.says);
  if (plan.kind === "nothing") return print(plan.says);
  const shown = [plan.says, ...commandsOf(facts, plan, change).map((command) => `  ${command}`)];
  if (!yes) {
    for (const line of shown) print(line);
    await confirm("Continue?", { terminal, instead: "add --yes to continue without" });
  }
  if (plan.requestsRetry) await requestRetry(rest, app, tokenIn(change));
  for (let attempt = 1; ; attempt += 1) {
    try {
      await write(rest, facts.rollout, plan);
      if (yes) for (const line of shown) print(line);
      return print(doneText(facts.rollout, plan));
    } catch (thrown) {
      if (!isConflict(thrown) || attempt === mostAttempts) throw thrown;
    }
    // Its counts change while clusters report; what is written must still be what was shown.
    facts = await readFacts(options);
    const again = planChange(change, facts);
    if (facts.rollout.metadata.uid !== uid || !isSame(plan, again))
      throw new AppError(
        cliErrors.ROLLOUT_REFUSED,
        `rollout ${facts.rollout.metadata.name} has changed since it was shown, and was not written: run the command again`,
      );
  }
}

function isSame(plan: Change, again: ChangePlan): boolean {
  return (
    again.kind === "change" &&
    again.deletes === plan.deletes &&
    again.requestsRetry === plan.requestsRetry &&
    isDeepStrictEqual(again.patch, plan.patch)
  );
}

async function readFacts({ rest, app, change }: ChangeOptions): Promise<ChangeFacts> {
  const rollout = await newestRollout(rest, app);
  const isAboutThem = change.kind === "rollback";
  return { app, rollout, ...(isAboutThem && { promoted: await readPromoted(rest, app, rollout) }) };
}

async function write(rest: KubeRest, { metadata }: BundleRollout, plan: Change): Promise<void> {
  const { uid, resourceVersion } = metadata;
  if (plan.deletes) {
    await rest.delete(bundleRollouts, metadata, {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    });
    return;
  }
  if (plan.patch === undefined) return;
  const body = { metadata: { uid, resourceVersion }, spec: plan.patch };
  await rest.patch(bundleRollouts, metadata, { type: "merge", body });
}

function retryAnnotations(token: string): Readonly<Record<string, string>> {
  const others = { force: false, correctDrift: false };
  return requestAnnotations(tokensOf({ token, reset: true, ...others }));
}

async function requestRetry(rest: KubeRest, app: AppRef, token: string): Promise<void> {
  const body = { metadata: { annotations: retryAnnotations(token) } };
  await rest.patch(appDefinition(app.kind).resource, app, { type: "merge", body });
}

function tokenIn(change: RolloutChange): string {
  return "token" in change ? change.token : "";
}

/** The same with kubectl. */
function commandsOf(
  { app, rollout }: ChangeFacts,
  plan: Change,
  change: RolloutChange,
): readonly string[] {
  const { namespace } = app;
  const { plural, group } = appDefinition(app.kind).resource;
  const object = { resource: "bundlerollout", namespace, name: rollout.metadata.name };
  const annotations = retryAnnotations(tokenIn(change));
  return [
    ...(plan.requestsRetry
      ? [
          kubectlCommand({
            resource: `${plural}.${group}`,
            namespace,
            name: app.name,
            patch: { metadata: { annotations } },
          }),
        ]
      : []),
    ...(plan.deletes ? [kubectlCommand(object)] : []),
    ...(plan.patch === undefined
      ? []
      : [kubectlCommand({ ...object, patch: { spec: plan.patch } })]),
  ];
}

function doneText({ metadata }: BundleRollout, plan: Change): string {
  if (plan.deletes) return `rollout ${metadata.name} deleted`;
  return plan.patch === undefined ? "requested" : `rollout ${metadata.name} changed`;
}
