/** The dashboard of a hub with a large fleet, in a process of its own. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** How many releases change their state each second, from now on. */
export interface LargeFleetOrder {
  readonly perSecond: number;
}

export interface LargeFleetMessage {
  readonly kind: "serving";
  readonly port: number;
}

export interface LargeFleet {
  readonly pid: number;
  readonly address: string;
  change(order: LargeFleetOrder): void;
  close(): Promise<void>;
}

export interface LargeFleetSpec {
  /** The folder with the built page. */
  readonly pageDir: string;
  readonly clusters: number;
  readonly apps: number;
}

const program = fileURLToPath(new URL("./large-fleet-main.ts", import.meta.url));

export async function startLargeFleet({
  pageDir,
  clusters,
  apps,
}: LargeFleetSpec): Promise<LargeFleet> {
  const child = fork(program, [pageDir, String(clusters), String(apps)], {
    // As in the hub's image.
    execArgv: ["--max-semi-space-size=4"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message: LargeFleetMessage) => resolve(message.port));
    child.once("exit", (code) => reject(new Error(`the large fleet ended with ${code}`)));
  });
  return {
    pid: child.pid ?? 0,
    address: `http://127.0.0.1:${port}`,
    change: (order) => void child.send(order),
    async close() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
