/** `flotilla kubectl`: kubectl of the clusters' own version, with the local fleet's kubeconfig. */
import { spawn } from "node:child_process";
import { ensureBinaries } from "@flotilla/local/binaries/ensure-binaries.ts";
import { allCrds } from "@flotilla/shared/api/crd/crds.ts";
import { renderCrd } from "@flotilla/shared/api/crd/render-crd.ts";
import type { CliConfig } from "../config.ts";
import { runningFleet } from "../fleet/running-fleet.ts";

/** Ends with kubectl's own exit code. */
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
  // kubectl gets Ctrl-C from the terminal itself; we end when it does.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** `flotilla crds`: the CustomResourceDefinitions, for `kubectl apply -f -`. */

export function crds(): void {
  process.stdout.write(
    allCrds()
      .map((crd) => `---\n${renderCrd(crd)}`)
      .join(""),
  );
}
