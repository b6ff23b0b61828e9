/** `flotilla kubectl`, `flotilla helm`, and `flotilla crds`, whose output is for `kubectl apply -f -`. */
import { spawn } from "node:child_process";
import { ensureBinaries } from "@flotilla/local/binaries";
import type { CliConfig } from "../config.ts";
import { runningFleet } from "../fleet/index.ts";
import { exitCodeOf } from "./signals.ts";

/** Runs kubectl of the clusters' version, or the agents' Helm, with the kubeconfig of the local fleet; exits with its exit code. */
export async function runClusterTool(
  tool: "kubectl" | "helm",
  args: readonly string[],
  dir: string,
  config: CliConfig,
): Promise<void> {
  // Without a fleet nothing is built that would run on behind the error.
  const { kubeconfig } = await runningFleet(dir);
  const binaries = await ensureBinaries([tool]);
  const child = spawn(binaries[tool], args, {
    stdio: "inherit",
    env: { ...config.userEnvironment, KUBECONFIG: kubeconfig },
  });
  // The terminal sends Ctrl-C to the tool, too; this process exits when it does.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      resolve(code ?? (signal === null ? 1 : exitCodeOf(signal))),
    );
  });
}

/** Prints all CustomResourceDefinitions, and the ValidatingAdmissionPolicy for Gates. */
export async function crds(): Promise<void> {
  const [{ allCrds, renderCrd }, { rolloutCrds }, { renderAdmission }] = await Promise.all([
    import("@flotilla/shared/api/crd"),
    import("@flotilla/shared/api/rollout/crd"),
    import("@flotilla/shared/api/rollout/admission"),
  ]);
  const documents = [...[...allCrds(), ...rolloutCrds()].map(renderCrd), renderAdmission()].map(
    (text) => `---\n${text}`,
  );
  process.stdout.write(documents.join(""));
}
