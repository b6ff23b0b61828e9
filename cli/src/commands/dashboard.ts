/** `flotilla dashboard`: a link that logs in to the dashboard of the local fleet once. */
import { AppError } from "@flotilla/shared/errors";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { cliErrors } from "../errors.ts";
import { createLoginLink, runningFleet } from "../fleet/index.ts";

/** Prints the link. Throws NO_FLEET and FLEET_BROKEN. */
export async function dashboard(dir: string): Promise<void> {
  const { kubeconfig, addresses } = await runningFleet(dir);
  const address = addresses["dashboard"];
  if (address === undefined)
    throw new AppError(
      cliErrors.NO_FLEET,
      `the fleet in ${dir} has no hub: it was started with --bare`,
    );
  const rest = connectKube(await loadKubeconfig({ path: kubeconfig, context: "hub" }));
  try {
    process.stdout.write(`${await createLoginLink(rest, address)}\n`);
  } finally {
    await rest.close();
  }
}
