/** `flotilla gate`, `flotilla approve` and `flotilla reject`: shows Gates, and decides about them as the user of the kubeconfig. */
import { type Gate, type GateDecision, gates } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { waitForObject } from "../fleet/index.ts";
import {
  chooseApproval,
  confirm,
  confirmIfAsked,
  decisionCommand,
  decisionEffect,
  gateResult,
  gateText,
  isInteractive,
  newestRollout,
  planDecision,
  readDecisionFacts,
  readGate,
  type Terminal,
  writeDecision,
} from "../rollout/index.ts";
import { gateDescription, gateJson, gatesTable } from "./gate-table.ts";
import { printable } from "./printable.ts";
import { type PlanAskOptions, readPlan } from "./read-plan.ts";
import { type ListOptions, type OutputOptions, printJson, type RolloutOptions } from "./rollout.ts";
import { seenPlan } from "./seen-plan.ts";
import { gateKinds, parseApp, parseTarget } from "./target.ts";
import { withHub } from "./with-hub.ts";

/** Prints the Gates of a namespace, or of all. */
export async function listGates(
  options: ListOptions & { readonly waiting?: boolean },
  config: CliConfig,
): Promise<void> {
  const { namespace, allNamespaces = false, waiting = false, output } = options;
  const { items } = await withHub(options, config, (rest) =>
    rest.list(gates, allNamespaces ? {} : { namespace }),
  );
  const shown = items
    .filter((gate) => !waiting || gateResult(gate) === "waiting")
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  if (output === "json") return printJson(shown.map(gateJson));
  const where = allNamespaces ? "" : ` in the namespace ${namespace}`;
  process.stdout.write(
    shown.length === 0
      ? `there are no ${waiting ? "gates that wait" : "gates"}${where}\n`
      : gatesTable(shown, { hasNamespaces: allNamespaces }),
  );
}

export interface WaitOptions extends RolloutOptions {
  readonly wait?: boolean;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Prints one Gate. With `wait` once it is decided, and the exit code says how: 0 passed, 1 failed, 2 not known. */
export async function getGate(
  target: readonly string[],
  options: WaitOptions & OutputOptions,
  config: CliConfig,
): Promise<void> {
  const { namespace, wait = false, output } = options;
  const { name } = parseTarget(target, gateKinds);
  // If it fails.
  if (wait) process.exitCode = 2;
  await withHub(options, config, async (rest) => {
    const first = await readGate(rest, { namespace, name });
    const gate = wait ? await waitForResult(rest, first, options.timeout) : first;
    if (output === "json") printJson(gateJson(gate));
    else process.stdout.write(gateDescription(gate));
    if (wait) process.exitCode = gateResult(gate) === "passed" ? 0 : 1;
  });
}

/** Throws CANCELLED when the time is over, and OBJECT_NOT_FOUND when it is gone before. */
async function waitForResult(rest: KubeRest, gate: Gate, timeoutMs: number): Promise<Gate> {
  const what = gateText(gate);
  const isOver = (found: Gate | undefined) =>
    found === undefined ||
    found.metadata.uid !== gate.metadata.uid ||
    gateResult(found) !== "waiting";
  const found = await waitForObject(gates, gate.metadata, isOver, {
    rest,
    timeoutMs,
    onTimeout: () => `wait for ${what}: it is not decided after ${timeoutMs / 1_000} s`,
  });
  if (found !== undefined && found.metadata.uid === gate.metadata.uid) return found;
  throw new AppError(
    cliErrors.OBJECT_NOT_FOUND,
    `wait for ${what}: it is gone; see what its rollout waits for now`,
  );
}

export interface DecideOptions extends WaitOptions {
  readonly message?: string;
  readonly yes?: boolean;
}

/**
 * `flotilla gate pass` and `fail`: for CI jobs and people. Says in numbers what follows, and asks on a terminal; a job has none, and names
 * the Gate and the result. With `wait` until the hub has stored it, and the exit code says whether it is what was decided. Throws
 * GATE_REFUSED, NOT_CONFIRMED and OBJECT_NOT_FOUND.
 */
export async function decideGate(
  result: GateDecision["result"],
  target: readonly string[],
  options: DecideOptions,
  config: CliConfig,
): Promise<void> {
  const { namespace, message, wait = false, timeout, yes = false } = options;
  const terminal: Terminal = { input: process.stdin, output: process.stdout };
  const { name } = parseTarget(target, gateKinds);
  await withHub(options, config, async (rest) => {
    const gate = await readGate(rest, { namespace, name });
    const { spec } = gate;
    if (spec.type === "Approval")
      throw new AppError(
        cliErrors.GATE_REFUSED,
        `${gateText(gate)} is decided with \`flotilla ${result === "Passed" ? "approve" : "reject"} ${spec.app.kind.toLowerCase()}/${spec.app.name} --stage ${spec.stage}\`, which shows what it is about`,
      );
    const decision = await planDecision(rest, gate, { result, message, digest: spec.digest });
    const effect = decisionEffect(result, await readDecisionFacts(rest, gate, result));
    const print = (line: string) => void process.stdout.write(`${printable(line)}\n`);
    const isSaid = await confirmIfAsked(effect, { terminal, yes, print });
    await writeDecision(rest, gate, decision);
    if (!isSaid) print(effect);
    printDecided(gate, decision);
    if (!wait) return;
    // If it fails.
    process.exitCode = 2;
    const now = await waitForResult(rest, gate, timeout);
    const isTaken = gateResult(now) === (result === "Passed" ? "passed" : "failed");
    process.stdout.write(gateDescription(now));
    process.exitCode = isTaken ? 0 : 1;
  });
}

export interface ApproveOptions extends RolloutOptions, PlanAskOptions {
  readonly stage?: string;
  readonly message?: string;
}

/** The words of `flotilla approve`: the app, and a digest as the last one. Pure. */
export function splitDigest(words: readonly string[]): {
  readonly target: readonly string[];
  readonly digest: string | undefined;
} {
  const last = words.at(-1);
  return last?.startsWith("sha256:") === true
    ? { target: words.slice(0, -1), digest: last }
    : { target: words, digest: undefined };
}

/**
 * Shows what the approval is about, with the changes of a plan, and asks; without a terminal, or where the changes cannot be shown, the
 * digest has to be given, so that nobody approves what nobody has seen. Throws GATE_REFUSED, NOT_CONFIRMED and ROLLOUT_NOT_FOUND.
 */
export async function approve(
  result: GateDecision["result"],
  words: readonly string[],
  options: ApproveOptions,
  config: CliConfig,
): Promise<void> {
  const { namespace, stage, message } = options;
  const { target, digest } = splitDigest(words);
  const app = parseApp(target, namespace);
  const terminal: Terminal = { input: process.stdin, output: process.stdout };
  await withHub(options, config, async (rest) => {
    const rollout = await newestRollout(rest, app);
    const chosen = chooseApproval(rollout, { stage, digest });
    if (chosen.kind === "refused") throw new AppError(cliErrors.GATE_REFUSED, chosen.says);
    const { record } = chosen;
    const gate = await readGate(rest, { namespace, name: record.gate });
    if (gate.metadata.uid !== record.uid)
      throw new AppError(
        cliErrors.GATE_REFUSED,
        `${gateText(gate)} is not the one that the rollout waits for, which has the same name: the hub replaces it; try again`,
      );
    const decision = await planDecision(rest, gate, { result, message, digest: record.digest });
    // A script that names the digest has decided already.
    const asks = digest === undefined || isInteractive(terminal);
    if (asks) process.stdout.write(gateDescription(gate));
    const mustShow = gate.spec.plan !== undefined && asks;
    const seen = mustShow
      ? await seenPlan(() => readPlan(app, { ...options, query: { gate: record.gate } }, config))
      : undefined;
    if (seen !== undefined) process.stdout.write(`\n${printable(seen.text)}\n`);
    const verb = result === "Passed" ? "Approve" : "Reject";
    const named = `flotilla ${verb.toLowerCase()} ${target.join(" ")}${stage === undefined ? "" : ` --stage ${stage}`} ${record.digest}`;
    if (digest === undefined && seen?.isShown === false)
      throw new AppError(
        cliErrors.NOT_CONFIRMED,
        `nothing was changed: what it is about could not be shown; name it: \`${named}\``,
      );
    if (asks) {
      const effect = decisionEffect(result, await readDecisionFacts(rest, gate, result));
      process.stdout.write(`\n${printable(effect)}\n`);
      await confirm(`${verb} it as ${printable(decision.by)}?`, {
        terminal,
        instead: `name what it is about: \`${named}\``,
      });
    }
    await writeDecision(rest, gate, decision);
    if (!asks) process.stdout.write(gateDescription(gate));
    printDecided(gate, decision);
    if (rollout.status?.phase === "Halted")
      process.stdout.write(
        `rollout ${rollout.metadata.name} is halted: this counts once it goes on, by \`flotilla rollout resume ${target.join(" ")}\`\n`,
      );
  });
}

function printDecided(gate: Gate, decision: GateDecision): void {
  const text = `${gateText(gate)} ${decision.result.toLowerCase()} by ${decision.by}`;
  process.stdout.write(`${printable(text)}\n  ${printable(decisionCommand(gate, decision))}\n`);
}
