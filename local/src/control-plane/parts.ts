/** The running components of one control plane. */
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";
import {
  endInOrder,
  endRecorded,
  exitError,
  layers,
  logTail,
  type RunningProcess,
  startProcess,
  watchersOf,
} from "../process/index.ts";
import { readParts, writeParts } from "./cluster-dir.ts";
import type { ControlPlaneSpec, ControlPlaneTool } from "./control-plane.ts";

export interface Parts {
  readonly list: readonly RunningProcess[];
  /** With `prepare`, which runs before each start, the part is started again when it crashes. */
  start(
    tool: ControlPlaneTool,
    args: readonly string[],
    prepare?: () => Promise<void>,
  ): Promise<void>;
  /** Starts a component again with the arguments of its first start. */
  restart(tool: ControlPlaneTool): Promise<void>;
  /** Ends all components, clients first, and kills those that have not ended after the grace period. */
  stop(graceMs?: number): Promise<void>;
  /** Runs `work`. Rejects with the end of the log when a component exits meanwhile. */
  whileAlive(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

const layerOf: Readonly<Record<ControlPlaneTool, number>> = {
  etcd: layers.store,
  "kube-apiserver": layers.server,
  "kube-controller-manager": layers.client,
  "kube-scheduler": layers.client,
  kwok: layers.client,
};
const stopGraceMs = 5_000;

/** Garbage is collected once there is this much of it, or seldom. */
const shortLivedEnvironment: Readonly<Record<ControlPlaneTool, Readonly<Record<string, string>>>> =
  {
    etcd: { GOGC: "off", GOMEMLIMIT: "200MiB" },
    "kube-apiserver": { GOGC: "off", GOMEMLIMIT: "600MiB" },
    "kube-controller-manager": { GOGC: "off", GOMEMLIMIT: "200MiB" },
    "kube-scheduler": { GOGC: "400" },
    kwok: { GOGC: "400" },
  };

const maxStartsAgain = 5;

/**
 * How the runtime of Go ends a program that it cannot go on with. A program that ends a part on purpose, such as `flotilla down` in another
 * terminal, sends a signal.
 */
const crashCode = 2;

export function createParts(spec: ControlPlaneSpec): Parts {
  const list: RunningProcess[] = [];
  const started = new Map<
    ControlPlaneTool,
    { readonly at: number; readonly args: readonly string[] }
  >();
  /** Settles, for each part, when it has ended for good. */
  const ended: Promise<void>[] = [];
  let stopRequested = false;
  const stopping = (): boolean => stopRequested;

  function run(tool: ControlPlaneTool, args: readonly string[]): Promise<RunningProcess> {
    return startProcess({
      name: `${tool} of ${spec.name}`,
      command: spec.binaries[tool],
      args,
      // Not the environment of the user: a proxy or a KUBECONFIG would change the behaviour.
      env: {
        HOME: spec.dir,
        PATH: "/usr/bin:/bin",
        ...(spec.shortLived === true && shortLivedEnvironment[tool]),
        ...(spec.processors !== undefined && { GOMAXPROCS: String(spec.processors) }),
      },
      cwd: spec.dir,
      logFile: join(spec.logDir ?? join(spec.dir, "logs"), `${tool}.log`),
      layer: layerOf[tool],
      ...watchersOf(spec),
    });
  }

  async function store(at: number, running: RunningProcess): Promise<void> {
    list[at] = running;
    await writeParts(
      spec.dir,
      list.map((part) => part.record),
    );
  }

  /** Starts the part at this place again when it crashes. Resolves when it has ended for good. */
  async function keepRunning(at: number, start: () => Promise<RunningProcess>): Promise<void> {
    for (let again = 0; again < maxStartsAgain; again++) {
      const exit = await list[at]?.exited;
      if (stopping() || exit?.code !== crashCode) return;
      const running = await start();
      await store(at, running);
      if (stopping()) await running.stop({ graceMs: stopGraceMs });
    }
    await list[at]?.exited;
  }

  return {
    list,
    async start(tool, args, prepare) {
      await prepare?.();
      const running = await run(tool, args);
      const at = list.length;
      started.set(tool, { at, args });
      await store(at, running);
      const forGood =
        prepare === undefined
          ? running.exited.then(() => undefined)
          : keepRunning(at, async () => {
              await prepare();
              return await run(tool, args);
            });
      // A part that cannot be started again has ended for good.
      ended[at] = forGood.catch(() => undefined);
    },
    async restart(tool) {
      const before = started.get(tool);
      if (before === undefined) return;
      await store(before.at, await run(tool, before.args));
    },
    async stop(graceMs = stopGraceMs) {
      stopRequested = true;
      await endInOrder(list, (part) => part.stop({ graceMs }));
      await Promise.allSettled(ended);
    },
    whileAlive: (work) => whileAlive(spec, { list, ended }, work),
  };
}

/** Ends the control plane in this folder that another program started. Does nothing when none is running. */
export async function stopControlPlaneIn(dir: string): Promise<void> {
  await endRecorded(await readParts(dir), { graceMs: stopGraceMs });
}

async function whileAlive(
  spec: ControlPlaneSpec,
  {
    list,
    ended,
  }: { readonly list: readonly RunningProcess[]; readonly ended: readonly Promise<void>[] },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const cancel = new AbortController();
  const signal = AbortSignal.any([
    cancel.signal,
    ...(spec.signal === undefined ? [] : [spec.signal]),
  ]);
  const exited = Promise.race(
    ended.map(async (forGood, at): Promise<void> => {
      await forGood;
      const part = list[at];
      if (part !== undefined) throw await exitError(part);
    }),
  );
  const working = work(signal);
  try {
    await Promise.race([working, exited]);
  } catch (thrown) {
    spec.signal?.throwIfAborted();
    if (list.some((part) => part.exit() !== undefined)) throw thrown;
    throw await startError(spec, list, thrown);
  } finally {
    cancel.abort();
    // Avoids an unhandled rejection when the other promise settles first.
    working.catch(() => undefined);
    exited.catch(() => undefined);
  }
}

async function startError(
  spec: ControlPlaneSpec,
  list: readonly RunningProcess[],
  thrown: unknown,
): Promise<AppError> {
  const tails = await Promise.all(
    list.map(async (part) => `${part.logFile}:\n${await logTail(part.logFile, 4)}`),
  );
  return new AppError(
    localErrors.CLUSTER_START_FAILED,
    `start cluster ${spec.name}: ${AppError.from(thrown).message}\n${tails.join("\n")}`,
    { cause: thrown },
  );
}
