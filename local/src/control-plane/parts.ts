/** The running parts of one control plane: started one by one, watched while others come up, ended in order. */
import { join } from "node:path";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";
import { logTail } from "../process/process-errors.ts";
import { endInOrder, endRecorded, layers, watchersOf } from "../process/process-record.ts";
import { exitError, type RunningProcess, startProcess } from "../process/start-process.ts";
import { readParts, writeParts } from "./cluster-dir.ts";
import type { ControlPlaneSpec, ControlPlaneTool } from "./control-plane.ts";

export interface Parts {
  readonly list: readonly RunningProcess[];
  start(tool: ControlPlaneTool, args: readonly string[]): Promise<void>;
  /** Starts one that has ended anew, as it was started first. */
  restart(tool: ControlPlaneTool): Promise<void>;
  /** Ends all, callers first; what has not ended after the grace is killed. */
  stop(graceMs?: number): Promise<void>;
  /** Runs `work`; ends it with the log of the part when one of the parts dies meanwhile. */
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

export function createParts(spec: ControlPlaneSpec): Parts {
  const list: RunningProcess[] = [];
  const started = new Map<
    ControlPlaneTool,
    { readonly at: number; readonly args: readonly string[] }
  >();

  function run(tool: ControlPlaneTool, args: readonly string[]): Promise<RunningProcess> {
    return startProcess({
      name: `${tool} of ${spec.name}`,
      command: spec.binaries[tool],
      args,
      // Nothing of the user's environment reaches a part: a proxy or a KUBECONFIG of theirs would change what it does.
      env: { HOME: spec.dir, PATH: "/usr/bin:/bin" },
      cwd: spec.dir,
      logFile: join(spec.logDir ?? join(spec.dir, "logs"), `${tool}.log`),
      layer: layerOf[tool],
      ...watchersOf(spec),
    });
  }

  async function note(at: number, running: RunningProcess): Promise<void> {
    list[at] = running;
    await writeParts(
      spec.dir,
      list.map((part) => part.record),
    );
  }

  return {
    list,
    async start(tool, args) {
      const running = await run(tool, args);
      started.set(tool, { at: list.length, args });
      await note(list.length, running);
    },
    async restart(tool) {
      const before = started.get(tool);
      if (before === undefined) return;
      await note(before.at, await run(tool, before.args));
    },
    stop: (graceMs = stopGraceMs) => endInOrder(list, (part) => part.stop({ graceMs })),
    whileAlive: (work) => whileAlive(spec, list, work),
  };
}

/** Ends what runs of a control plane that another program started in this folder. Harmless when nothing does. */
export async function stopControlPlaneIn(dir: string): Promise<void> {
  await endRecorded(await readParts(dir), { graceMs: stopGraceMs });
}

async function whileAlive(
  spec: ControlPlaneSpec,
  list: readonly RunningProcess[],
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const giveUp = new AbortController();
  const signal = AbortSignal.any([
    giveUp.signal,
    ...(spec.signal === undefined ? [] : [spec.signal]),
  ]);
  const death = Promise.race(
    list.map(async (part): Promise<never> => {
      await part.exited;
      throw await exitError(part);
    }),
  );
  const working = work(signal);
  try {
    await Promise.race([working, death]);
  } catch (thrown) {
    spec.signal?.throwIfAborted();
    if (list.some((part) => part.exit() !== undefined)) throw thrown;
    throw await startError(spec, list, thrown);
  } finally {
    giveUp.abort();
    // Whichever lost the race is of no interest any more.
    working.catch(() => undefined);
    death.catch(() => undefined);
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
