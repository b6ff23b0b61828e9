/** The memory of a Node process after its garbage is collected: asked for over its inspector, as a debugger would. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { memoryMb } from "../measure/bench-fleet.ts";

/** Has the inspector take any free port; for the environment of the process. */
export const inspectorEnvironment = { NODE_OPTIONS: "--inspect-port=0" };

const collections = 3;
const askEveryMs = 50;

/** `logFile`: of the process, with the address of its inspector. */
export async function settledMemoryMb(pid: number, logFile: string): Promise<number> {
  const socket = new WebSocket(await inspectorOf(pid, logFile));
  await heard(socket, "open");
  for (let id = 1; id <= collections; id += 1) {
    socket.send(JSON.stringify({ id, method: "HeapProfiler.collectGarbage" }));
    await heard(socket, "message");
  }
  socket.close();
  await heard(socket, "close");
  return await memoryMb(pid);
}

/** The last one in the log: the process may have been restarted with the same log. */
async function inspectorOf(pid: number, logFile: string): Promise<string> {
  const before = (await addressesIn(logFile)).length;
  process.kill(pid, "SIGUSR1");
  for (let tries = 0; tries < 100; tries += 1) {
    const addresses = await addressesIn(logFile);
    const last = addresses.at(-1);
    // A second signal starts no second inspector.
    if (last !== undefined && (addresses.length > before || tries > 20)) return last;
    await sleep(askEveryMs);
  }
  throw new Error(`process ${pid} has not said in ${logFile} where its inspector listens`);
}

async function addressesIn(logFile: string): Promise<readonly string[]> {
  const text = await readFile(logFile, "utf8");
  return [...text.matchAll(/^Debugger listening on (ws:\S+)$/gm)].map(([, url = ""]) => url);
}

function heard(socket: WebSocket, event: "open" | "message" | "close"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(event, () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error("the inspector does not answer")), {
      once: true,
    });
  });
}
