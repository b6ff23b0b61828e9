/** Simulated agents in a process of their own, as `flotilla simulate` runs them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { giveWay } from "../measure/priority.ts";

const program = fileURLToPath(new URL("../../../cli/bin/flotilla.js", import.meta.url));

export interface SimulationSpec {
  readonly kubeconfig: string;
  readonly name: string;
  readonly agents: number;
  readonly bundles: number;
  readonly latency: string;
  /** Whether what was made on the hub stays when the agents end: the deletion of thousands takes long. */
  readonly keep: boolean;
  /** Releases that change their readiness each second; default: none. */
  readonly changes?: number;
  /** The share of installations that fail, and are retried; default: none. */
  readonly failureRate?: number;
  /** Groups of agents that answer plans with the same diff; default: one. */
  readonly planGroups?: number;
  readonly logFile: string;
  /** Passed on: where it finds programs. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Simulation {
  readonly pid: number;
  /** What the agents have logged so far. */
  log(): Promise<readonly AgentLine[]>;
  /** Ends the agents. Harmless when they have ended. */
  end(): Promise<void>;
}

/** A line of the agents' log. */
export interface AgentLine {
  readonly level: string;
  /** ms since 1970. */
  readonly at: number;
  readonly msg: string;
  readonly err: string;
  readonly code: string;
  readonly deploymentId: string;
  /** The name of the agent's cluster. */
  readonly agent: string;
  readonly deployment: string;
  readonly isReady: boolean;
}

/** Resolves when all agents are connected. */
export async function startSimulation(spec: SimulationSpec): Promise<Simulation> {
  const child = spawn(
    process.execPath,
    [
      program,
      "simulate",
      ...(spec.keep ? ["--keep"] : []),
      `--kubeconfig=${spec.kubeconfig}`,
      `--name=${spec.name}`,
      `--agents=${spec.agents}`,
      `--bundles=${spec.bundles}`,
      `--latency=${spec.latency}`,
      `--changes=${spec.changes ?? 0}`,
      `--failure-rate=${spec.failureRate ?? 0}`,
      `--plan-groups=${spec.planGroups ?? 1}`,
      `--log-file=${spec.logFile}`,
    ],
    { env: { ...spec.environment }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error("flotilla could not be started");
  giveWay(pid);
  const exited = once(child, "exit");
  await connected(child, spec.name);
  return {
    pid,
    log: async () =>
      (await readFile(spec.logFile, "utf8")).trimEnd().split("\n").map(parseAgentLine),
    async end() {
      child.kill("SIGINT");
      await exited;
    },
  };
}

async function connected(child: ChildProcess, name: string): Promise<void> {
  if (child.stdout === null) throw new Error("its output is a pipe");
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      console.log(`    ${line}`);
      if (line.startsWith(`All agents of ${name} are connected.`)) resolve();
    });
    child.once("exit", (code) =>
      reject(new Error(`the simulation ended with ${code} before all agents were connected`)),
    );
  });
}

function parseAgentLine(line: string): AgentLine {
  const fields: Record<string, unknown> = JSON.parse(line);
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === "string" ? value : "";
  };
  return {
    level: text("level"),
    at: Date.parse(text("time")),
    msg: text("msg"),
    err: text("err"),
    code: text("code"),
    deploymentId: text("deploymentId"),
    agent: text("agent"),
    deployment: text("deployment"),
    isReady: fields["ready"] === true,
  };
}
