/** kubectl and helm against one cluster, as a user of the product runs them. */
import { execFile } from "node:child_process";
import { basename } from "node:path";
import { helmStartEnvironment } from "@flotilla/shared/process";

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Program = (args: readonly string[], input?: string) => Promise<Outcome>;

/** The program, which takes `--kubeconfig` as kubectl and helm do, for one cluster. Its failure is an outcome too. */
export function programFor(binary: string, kubeconfig: string): Program {
  return (args, input) =>
    new Promise((resolve, reject) => {
      const child = execFile(
        binary,
        [`--kubeconfig=${kubeconfig}`, ...args],
        {
          maxBuffer: 64 * 1024 * 1024,
          ...(basename(binary) === "helm" && { env: { ...process.env, ...helmStartEnvironment } }),
        },
        (error, stdout, stderr) => {
          if (error === null) resolve({ code: 0, stdout, stderr });
          else if (typeof error.code === "number") resolve({ code: error.code, stdout, stderr });
          else reject(new Error(`run ${basename(binary)} ${args.join(" ")}`, { cause: error }));
        },
      );
      child.stdin?.end(input ?? "");
    });
}
