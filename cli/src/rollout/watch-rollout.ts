/** Waits for the end of the newest rollout of an app, and for the hub to have read the app first. */
import { type Bundle, bundles } from "@flotilla/shared/api";
import { appDefinition } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import { type BundleRollout, bundleRollouts } from "@flotilla/shared/api/rollout";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import { isForbidden, type KubeRest } from "@flotilla/shared/kube/client";
import {
  type Condition,
  type KubeObject,
  keyOf,
  type ObjectRef,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { oneLine } from "@flotilla/shared/text";
import { cliErrors } from "../errors.ts";
import { waitForObject } from "../fleet/index.ts";
import {
  type AppRef,
  appText,
  newestRollout,
  readRollouts,
  rolloutSelector,
  sorted,
} from "./find-rollouts.ts";
import { endOf, type RolloutEnd } from "./rollout-end.ts";

export interface WatchOptions {
  readonly rest: KubeRest;
  readonly app: AppRef;
  /** Absent: there is no limit. */
  readonly timeoutMs?: number | undefined;
  /** Called with the newest rollout at first, and after each change of it or when another one is the newest. */
  readonly onChange: (rollout: BundleRollout) => void;
}

/** How long the hub may take to read a change of the app. */
const readingMs = 60_000;
/** How long the API server may not answer: it may be restarted meanwhile. */
const unreachableMs = 120_000;
/** How long after one rollout was superseded the next one may be missing. */
const replacingMs = 10_000;

/**
 * The end of the newest rollout, of the revision that the app has now: what was changed a moment ago must not be taken for completed
 * because the rollout before is. Throws OBJECT_NOT_FOUND, ROLLOUT_NOT_FOUND, ROLLOUT_REFUSED when the app is not accepted, and
 * CANCELLED when the time is over.
 */
export async function watchRollout(
  options: WatchOptions,
): Promise<Extract<RolloutEnd["kind"], "completed" | "failed">> {
  const { rest, app, timeoutMs } = options;
  const startedAtMs = performance.now();
  await waitUntilRead(rest, app, Math.min(readingMs, timeoutMs ?? readingMs));
  // Says it where there is none, or they may not be read.
  const isDeleted = (await readRollouts(rest, app)).length === 0;
  const named = await namedRollout(rest, app);
  if (isDeleted && named === undefined) await newestRollout(rest, app);
  const leftMs =
    timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - startedAtMs);
  return await watchNewest(options, { timeoutMs: leftMs, isNamed: named !== undefined });
}

/** The rollout of the Bundle's revision, as the hub says of the Bundle; undefined: it says nothing, or may not be read. */
async function namedRollout(rest: KubeRest, app: AppRef): Promise<string | undefined> {
  try {
    return (await rest.get(bundles, bundleOf(app)))?.status?.rollout?.name;
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    return undefined;
  }
}

function bundleOf({ namespace, kind, name }: AppRef) {
  return { namespace, name: bundleNameOf(kind, name) };
}

interface Observed extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** Until the hub has made the Bundle of the app's spec, and read that. What may not be read is not waited for. */
async function waitUntilRead(rest: KubeRest, app: AppRef, timeoutMs: number): Promise<void> {
  const { resource, blockedBy } = appDefinition(app.kind);
  const conditionOf = ({ status }: Observed) => findCondition(status?.conditions, blockedBy);
  const isRead = (object: Observed) =>
    object.status?.observedGeneration === object.metadata.generation &&
    conditionOf(object)?.observedGeneration === object.metadata.generation;
  const found = await waitUntil(rest, resource, app, { isRead, timeoutMs });
  if (found === "missing")
    throw new AppError(
      cliErrors.OBJECT_NOT_FOUND,
      `read ${appText(app)}: not found on ${rest.server}; check -n, --kubeconfig and --context`,
    );
  const condition = found === "unreadable" ? undefined : conditionOf(found);
  if (blockedBy === "Accepted" && condition?.status === "False")
    throw new AppError(
      cliErrors.ROLLOUT_REFUSED,
      `${appText(app)} is not accepted, so that nothing of it is rolled out: ${oneLine(condition.message ?? "")}`,
    );
  await waitUntil(rest, bundles, bundleOf(app), {
    isRead: ({ metadata, status }) => status?.observedGeneration === metadata.generation,
    timeoutMs,
  });
}

async function waitUntil(
  rest: KubeRest,
  resource: Resource<KubeObject>,
  ref: ObjectRef,
  {
    isRead,
    timeoutMs,
  }: { readonly isRead: (object: Observed) => boolean; readonly timeoutMs: number },
): Promise<Observed | "missing" | "unreadable"> {
  try {
    const first = await rest.get(resource, ref);
    if (first === undefined) return "missing";
    if (isRead(first)) return first;
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    return "unreadable";
  }
  const isOver = (object: KubeObject | undefined) => object === undefined || isRead(object);
  const found = await waitForObject(resource, ref, isOver, {
    rest,
    timeoutMs,
    onTimeout: () =>
      `wait for ${resource.kind} ${ref.namespace ?? ""}/${ref.name}: the hub has not read its last change after ${timeoutMs / 1_000} s; check that it is running`,
  });
  return found ?? "missing";
}

async function watchNewest(
  { rest, app, onChange }: WatchOptions,
  { timeoutMs, isNamed }: { readonly timeoutMs: number | undefined; readonly isNamed: boolean },
): Promise<"completed" | "failed"> {
  const stop = new AbortController();
  const { namespace } = app;
  const log = silentLog();
  const rollouts = createInformer<BundleRollout>({
    rest,
    log,
    namespace,
    onListed,
    resource: bundleRollouts,
    labelSelector: rolloutSelector(app),
  });
  const bundle = createInformer<Bundle>({
    rest,
    log,
    namespace,
    onListed,
    resource: bundles,
    fieldSelector: `metadata.name=${bundleOf(app).name}`,
  });
  const watched = isNamed ? [rollouts, bundle] : [rollouts];
  const { promise: ended, resolve, reject } = Promise.withResolvers<"completed" | "failed">();
  const timers = new Set<NodeJS.Timeout>();
  let shown: BundleRollout | undefined;
  let waiting: NodeJS.Timeout | undefined;
  let failingSinceMs: number | undefined;

  function onListed(failure?: AppError): void {
    if (failure === undefined) {
      failingSinceMs = undefined;
      return;
    }
    failingSinceMs ??= performance.now();
    if (performance.now() - failingSinceMs > unreachableMs) reject(failure);
  }

  /** A rollout that is deleted starts again; until then the one before is the newest, and its end is not the revision's. */
  function isOfRevision({ metadata }: BundleRollout): boolean {
    const named = bundle.store.get(keyOf(bundleOf(app)))?.status?.rollout?.name;
    return !isNamed || named === undefined || named === metadata.name;
  }

  function check(): void {
    if (!watched.every((each) => each.hasSynced)) return;
    const newest = sorted([...rollouts.store.list()], app).at(-1);
    const kind = newest === undefined ? "running" : endOf(newest).kind;
    if (newest === undefined || (kind !== "running" && !isOfRevision(newest))) {
      waiting ??= after(readingMs, () => reject(notNamed(app)));
      return;
    }
    if (newest === shown) return;
    shown = newest;
    clearTimeout(waiting);
    waiting = undefined;
    onChange(newest);
    if (kind === "completed" || kind === "failed") resolve(kind);
    if (kind === "replaced") waiting = after(replacingMs, () => resolve("failed"));
  }

  function after(ms: number, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(run, ms);
    timers.add(timer);
    return timer;
  }

  if (timeoutMs !== undefined)
    after(Math.max(0, timeoutMs), () =>
      reject(new AppError(commonErrors.CANCELLED, timeoutText(app, shown))),
    );
  for (const each of watched) each.onChange(check);
  const running = watched.map((each) => each.run(stop.signal));
  Promise.all(watched.map((each) => each.synced)).then(check, reject);
  try {
    return await ended;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    stop.abort();
    await Promise.all(running);
  }
}

function notNamed(app: AppRef): AppError {
  return new AppError(
    commonErrors.CANCELLED,
    `wait for the rollout of ${appText(app)}: its newest one is not for the revision it has now, and the hub has not made another one after ${readingMs / 1_000} s; check that it is running`,
  );
}

function timeoutText(app: AppRef, last: BundleRollout | undefined): string {
  const { phase = "unknown", message = "" } = last?.status ?? {};
  return `wait for the rollout of ${appText(app)}: it is ${phase}: ${oneLine(message)}; the hub continues`;
}
