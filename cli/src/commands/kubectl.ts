/** `flotilla kubectl`, and `flotilla crds`, whose output is for `kubectl apply -f -`. */
import { spawn } from "node:child_process";
import { ensureBinaries } from "@flotilla/local/binaries";
import type { CliConfig } from "../config.ts";
import { runningFleet } from "../fleet/index.ts";

/** Runs kubectl of the clusters' version with the kubeconfig of the local fleet; exits with its exit code. */
export async function kubectl(
  args: readonly string[],
  dir: string,
  config: CliConfig,
): Promise<void> {
  const [{ kubeconfig }, binaries] = await Promise.all([
    runningFleet(dir),
    ensureBinaries(["kubectl"]),
  ]);
  const child = spawn(binaries.kubectl, args, {
    stdio: "inherit",
    env: { ...config.userEnvironment, KUBECONFIG: kubeconfig },
  });
  // The terminal sends Ctrl-C to kubectl, too; this process exits when kubectl does.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Prints all CustomResourceDefinitions. */
export async function crds(): Promise<void> {
  const { allCrds, renderCrd } = await import("@flotilla/shared/api/crd");
  const documents = allCrds().map((crd) => `---\n${renderCrd(crd)}`);
  process.stdout.write(documents.join(""));
}
