/** What must be so before a fleet is emptied. */
import { type Bundle, bundles } from "@flotilla/shared/api";
import {
  fleetLeaseNames,
  fleetNamespace,
  helmReleaseLabel,
  hubNamespace,
} from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { isNotFound, type KubeRest, listAll } from "@flotilla/shared/kube/client";
import { holderOf } from "@flotilla/shared/kube/leaderelection";
import { keyOf, leases } from "@flotilla/shared/kube/objects";
import { cliErrors } from "../errors.ts";
import { fluxLeaseOf } from "./fleet-objects.ts";

/** Throws FLEET_LEASE_EXISTS, FLUX_LEASE_EXISTS, or HUB_NOT_RUNNING: without a leading hub no release is uninstalled. */
export async function assertMayEmpty(
  rest: KubeRest,
  { keepReleases }: { readonly keepReleases: boolean },
  signal: AbortSignal,
): Promise<void> {
  const found = await Promise.all(
    fleetLeaseNames.map((name) =>
      rest.get(leases, { namespace: fleetNamespace, name }, { signal }),
    ),
  );
  const ofFleet = found.find((lease) => lease !== undefined);
  if (ofFleet !== undefined)
    throw new AppError(
      cliErrors.FLEET_LEASE_EXISTS,
      `empty the fleet on ${rest.server}: Lease ${fleetNamespace}/${ofFleet.metadata.name} of Fleet's controllers exists, which use the same objects; nothing was changed; if Fleet is gone, delete the Lease`,
    );
  const fluxLease = await fluxLeaseOf(rest, signal);
  const active = fluxLease === undefined ? undefined : await activeReleaseBundle(rest, signal);
  if (fluxLease !== undefined && active !== undefined)
    throw new AppError(
      cliErrors.FLUX_LEASE_EXISTS,
      `empty the fleet on ${rest.server}: Lease ${fluxLease} of Flux's controllers exists, and Bundle ${active} of a HelmRelease is not suspended, so its release may be uninstalled although Flux has it; nothing was changed; a hub that runs beside Flux suspends these Bundles; if Flux is gone, delete the Lease`,
    );
  if (keepReleases) return;
  const leader = await rest.get(
    leases,
    { namespace: hubNamespace, name: "flotilla-hub" },
    { signal },
  );
  if (holderOf(leader) === undefined)
    throw new AppError(
      cliErrors.HUB_NOT_RUNNING,
      `uninstall the releases of the fleet on ${rest.server}: no hub leads (Lease ${hubNamespace}/flotilla-hub has no holder); nothing was changed; start the hub, or leave the releases with --keep-releases`,
    );
}

/** `namespace/name` of a Bundle of a HelmRelease whose release is uninstalled with it: one of a suspended Bundle stays. */
async function activeReleaseBundle(
  rest: KubeRest,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { objects } = await listAll({
      rest,
      resource: bundles,
      signal,
      selection: { labelSelector: helmReleaseLabel },
      transform: (bundle: Bundle) => bundle,
    });
    const active = objects.find(({ spec }) => spec.suspend !== true);
    return active && keyOf(active);
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}
