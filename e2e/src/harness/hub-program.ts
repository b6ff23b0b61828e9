/** The hub of a test fleet. */
import { freePort, type RunningProcess, type Watchers, watchersOf } from "@flotilla/local/process";
import { startProgram } from "./start-program.ts";

/** Ports of a hub. They stay the same over restarts, so that agents reconnect. */
export interface HubPorts {
  readonly grpc: number;
  /** Public HTTP: webhooks. */
  readonly http: number;
  /** Health and metrics. */
  readonly internal: number;
}

export interface HubSpec extends Watchers {
  readonly kubeconfig: string;
  readonly ports: HubPorts;
  readonly logFile: string;
  /** Environment variables of the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** The entry file of the program; default: that of this version. */
  readonly main?: string;
  readonly nodeFlags?: readonly string[];
  /** Name of this replica; default `hub-0`. */
  readonly replica?: string;
  /** `host:port` that agents connect to; default: that of `ports`. */
  readonly advertise?: string;
  /** More flags. */
  readonly flags?: readonly string[];
  /** Default true; false: resolves once the process is alive. */
  readonly untilReady?: boolean;
}

export async function chooseHubPorts(): Promise<HubPorts> {
  return { grpc: await freePort(), http: await freePort(), internal: await freePort() };
}

/** `host:port` that agents connect to. */
export function hubAddress(ports: HubPorts): string {
  return `127.0.0.1:${ports.grpc}`;
}

/** By default resolves once the hub is ready: its server accepts agents and its caches are synced. */
export function startHub(spec: HubSpec): Promise<RunningProcess> {
  return startProgram({
    name: "hub",
    program: "hub",
    main: spec.main,
    ...(spec.nodeFlags !== undefined && { nodeFlags: spec.nodeFlags }),
    args: [
      `--kubeconfig=${spec.kubeconfig}`,
      `--grpc-listen=127.0.0.1:${spec.ports.grpc}`,
      // Its registries are on this machine.
      "--egress-loopback=allow",
      `--http-listen=127.0.0.1:${spec.ports.http}`,
      `--internal-listen=127.0.0.1:${spec.ports.internal}`,
      // Earlier versions have no such flag.
      ...(spec.main === undefined ? ["--replica-listen=127.0.0.1:0"] : []),
      `--advertise=${spec.advertise ?? hubAddress(spec.ports)}`,
      `--replica=${spec.replica ?? "hub-0"}`,
      ...(spec.flags ?? []),
    ],
    health: `http://127.0.0.1:${spec.ports.internal}`,
    untilReady: spec.untilReady ?? true,
    logFile: spec.logFile,
    environment: spec.environment,
    ...watchersOf(spec),
  });
}
