/**
 * `flotilla reconcile`, `retry`, `suspend` and `resume`: changes of one object, the same that the dashboard makes. A reconciliation is
 * requested by annotation, as `flux reconcile` does.
 */
import {
  answerLines,
  bundleDeployments,
  type Condition,
  clusters,
  deploymentSelector,
  type RequestAnswer,
  requestAnswers,
} from "@flotilla/shared/api";
import { type AppKind, type AppRequest, isAppKind, takesRequest } from "@flotilla/shared/api/apps";
import { pollRequestAnnotation, requestAnnotations, tokensOf } from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { connectKube, type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  keyOf,
  type ObjectRef,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { type HubOptions, hubKubeconfig, waitForList, waitForObject } from "../fleet/index.ts";
import { parseTarget, reconciledKinds, type TargetKind } from "./target.ts";

/** What all kinds that are reconciled on request have in common; the counts are a HelmOp's. */
export interface ReconciledObject extends KubeObject {
  readonly spec: { readonly suspend?: boolean | undefined };
  readonly status?:
    | {
        readonly lastHandledReconcileAt?: string | undefined;
        readonly conditions?: readonly Condition[] | undefined;
        readonly version?: string | undefined;
        readonly readyClusters?: number | undefined;
        readonly desiredReadyClusters?: number | undefined;
      }
    | undefined;
}

export interface TargetOptions extends HubOptions {
  readonly target: readonly string[];
  readonly namespace: string;
}

export interface ReconcileOptions extends TargetOptions {
  /** How long to wait until the object is ready; does not wait when absent. */
  readonly waitMs?: number;
  /** Drift of their objects is corrected once. */
  readonly correctDrift?: boolean;
  /** Helm upgrades its releases, whatever their state. */
  readonly force?: boolean;
  /** Their failed attempts do not count. */
  readonly reset?: boolean;
  /** Only the source of an app is read; its releases are not reconciled if nothing has changed. */
  readonly poll?: boolean;
}

/** Throws OBJECT_NOT_FOUND, OBJECT_SUSPENDED, RECONCILE_FAILED, TARGET_INVALID, or CANCELLED when `waitMs` has passed. */
export async function reconcile(options: ReconcileOptions, config: CliConfig): Promise<void> {
  const { force = false, reset = false, correctDrift = false, poll = false, waitMs } = options;
  const requested: readonly AppRequest[] = [
    ...(poll ? (["poll"] as const) : []),
    ...(correctDrift ? (["correct-drift"] as const) : []),
    ...(reset ? (["retry"] as const) : []),
    ...(force ? (["force"] as const) : []),
  ];
  const kinds = reconciledKinds.filter(
    ({ resource: { kind } }) =>
      requested.length === 0 ||
      (isAppKind(kind) && requested.every((request) => takesRequest(kind, request))),
  );
  await withObject({ ...options, verb: "reconcile", kinds }, config, async (object) => {
    if (object.isSuspended)
      throw new AppError(
        cliErrors.OBJECT_SUSPENDED,
        `reconcile ${object.what}: it is suspended; run \`flotilla resume\` first`,
      );
    // The hub compares the value with the last one that it handled; Flux uses the time, too.
    const token = formatTimeMs(Date.now());
    const annotations = poll
      ? { [pollRequestAnnotation]: token }
      : requestAnnotations(tokensOf({ token, force, reset, correctDrift }));
    await object.patch({ metadata: { annotations } });
    print(`${object.what} ${poll ? "poll" : "reconciliation"} requested`);
    if (waitMs === undefined) return;
    const deadlineMs = performance.now() + waitMs;
    print(`${object.what} ${await waitForResult(object, token, waitMs)}`);
    const { kind } = object.resource;
    if (poll || !isAppKind(kind)) return;
    const leftMs = Math.max(1, Math.floor(deadlineMs - performance.now()));
    for (const line of await answersOf({ ...object, kind }, token, leftMs)) print(line);
  });
}

/** What the request has come to on each cluster; agents that may still answer are waited for. */
async function answersOf(
  { rest, kind, ref }: Pick<FoundObject, "rest" | "ref"> & { readonly kind: AppKind },
  token: string,
  timeoutMs: number,
): Promise<readonly string[]> {
  const labelSelector = deploymentSelector(kind, ref);
  try {
    const found = await rest.list(clusters);
    const answers = await waitForList(
      bundleDeployments,
      (items) => {
        const all = requestAnswers(items, found.items, { token, version: buildVersion });
        return { value: all, isFinal: all.every(({ isOpen }: RequestAnswer) => !isOpen) };
      },
      { rest, labelSelector, timeoutMs },
    );
    return answerLines(answers);
  } catch (thrown) {
    // Who may change an app may not always read its deployments.
    if (!(thrown instanceof KubeStatusError) || thrown.status !== 403) throw thrown;
    return [`what the clusters answer cannot be read: ${thrown.serverMessage}`];
  }
}

/** Throws OBJECT_NOT_FOUND and TARGET_INVALID. */
export async function setSuspended(
  isSuspended: boolean,
  options: TargetOptions,
  config: CliConfig,
): Promise<void> {
  const verb = isSuspended ? "suspend" : "resume";
  await withObject({ ...options, verb, kinds: reconciledKinds }, config, async (object) => {
    if (object.isSuspended === isSuspended)
      return print(`${object.what} is ${isSuspended ? "suspended already" : "not suspended"}`);
    await object.patch({ spec: { suspend: isSuspended } });
    print(`${object.what} ${isSuspended ? "suspended" : "resumed"}`);
  });
}

/** One object that a command has found. */
interface FoundObject {
  /** `HelmOp fleet-default/web`. */
  readonly what: string;
  readonly rest: KubeRest;
  readonly resource: Resource<ReconciledObject>;
  readonly ref: ObjectRef;
  readonly isSuspended: boolean;
  patch(body: unknown): Promise<void>;
}

async function withObject(
  {
    verb,
    kinds,
    target,
    namespace,
    ...hub
  }: TargetOptions & { readonly verb: string; readonly kinds: readonly TargetKind[] },
  config: CliConfig,
  act: (object: FoundObject) => Promise<void>,
): Promise<void> {
  const parsed = parseTarget(target, kinds);
  // All of these kinds have these fields.
  const resource = parsed.resource as Resource<ReconciledObject>;
  const ref = { namespace, name: parsed.name };
  const what = `${resource.kind} ${keyOf(ref)}`;
  const rest = connectKube(await hubKubeconfig(hub, config));
  try {
    const found = await rest.get(resource, ref);
    if (found === undefined)
      throw new AppError(
        cliErrors.OBJECT_NOT_FOUND,
        `${verb} ${what}: not found on ${rest.server}; check -n, --kubeconfig and --context`,
      );
    await act({
      what,
      rest,
      resource,
      ref,
      isSuspended: found.spec.suspend === true,
      async patch(body) {
        await rest.patch(resource, ref, { type: "merge", body });
      },
    });
  } finally {
    await rest.close();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function waitForResult(
  { what, rest, resource, ref }: FoundObject,
  token: string,
  timeoutMs: number,
): Promise<string> {
  const resultOf = (object: ReconciledObject | undefined) => reconcileResult(object, token);
  const isFinal = (object: ReconciledObject | undefined) => resultOf(object).kind !== "waiting";
  const object = await waitForObject(resource, ref, isFinal, {
    rest,
    timeoutMs,
    onTimeout: (last) =>
      `wait for ${what}: not ready after ${timeoutMs / 1_000} s: ${resultOf(last).message}; the hub continues`,
  });
  const { kind, message } = resultOf(object);
  if (kind === "ready") return message;
  throw new AppError(cliErrors.RECONCILE_FAILED, `reconcile ${what}: ${message}`);
}

export interface ReconcileResult {
  readonly kind: "waiting" | "ready" | "failed";
  /** For people: why it is waiting or has failed, or what is ready. */
  readonly message: string;
}

/** The current result of a request, from the status of the object. `token`: the value of the request's annotation. Pure. */
export function reconcileResult(
  object: ReconciledObject | undefined,
  token: string,
): ReconcileResult {
  if (object === undefined) return { kind: "failed", message: "it was deleted" };
  const { metadata, status } = object;
  if (status?.lastHandledReconcileAt !== token)
    return {
      kind: "waiting",
      message: "the hub has not handled the request; check that it is running",
    };
  const stalled = findCondition(status.conditions, "Stalled");
  if (stalled?.status === "True") return { kind: "failed", message: stalled.message ?? "" };
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== metadata.generation)
    return { kind: "waiting", message: ready?.message || "it is not ready" };
  const notes = ["Accepted", "Ready"]
    .map((type) => findCondition(status.conditions, type)?.message ?? "")
    .filter((message) => message !== "");
  return { kind: "ready", message: [readyText(status), ...notes].join("; ") };
}

function readyText(status: ReconciledObject["status"]): string {
  const { version = "", readyClusters = 0, desiredReadyClusters } = status ?? {};
  const what = version === "" ? "is ready" : `${version} is ready`;
  return desiredReadyClusters === undefined
    ? what
    : `${what} in ${readyClusters} of ${desiredReadyClusters} clusters`;
}
