/** What must be so before a fleet is emptied. */
import { type Bundle, bundles } from "@flotilla/shared/api";
import { type AppKind, appDefinition, frontEndKinds } from "@flotilla/shared/api/apps";
import { fleetLeaseNames, fleetNamespace, hubNamespace } from "@flotilla/shared/api/names";
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
  const active = fluxLease === undefined ? undefined : await activeBundle(rest, signal);
  if (fluxLease !== undefined && active !== undefined)
    throw new AppError(
      cliErrors.FLUX_LEASE_EXISTS,
      `empty the fleet on ${rest.server}: Lease ${fluxLease} of Flux's controllers exists, and Bundle ${active.key} of a ${active.kind} is not suspended, so its release may be uninstalled although Flux has it; nothing was changed; a hub that runs beside Flux suspends these Bundles; if Flux is gone, delete the Lease`,
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

/**
 * A Bundle of an app that is left to Flux, whose release is uninstalled with it: one of a suspended Bundle stays. `key`:
 * `namespace/name`.
 */
async function activeBundle(
  rest: KubeRest,
  signal: AbortSignal,
): Promise<{ readonly kind: AppKind; readonly key: string } | undefined> {
  for (const kind of frontEndKinds) {
    const { label, yieldsToFlux } = appDefinition(kind);
    if (!yieldsToFlux || label === undefined) continue;
    const all = await bundlesWith(label, rest, signal);
    const active = all.find(({ spec }) => spec.suspend !== true);
    if (active !== undefined) return { kind, key: keyOf(active) };
  }
  return undefined;
}

async function bundlesWith(
  label: string,
  rest: KubeRest,
  signal: AbortSignal,
): Promise<readonly Bundle[]> {
  try {
    const { objects } = await listAll({
      rest,
      resource: bundles,
      signal,
      selection: { labelSelector: label },
      transform: (bundle: Bundle) => bundle,
    });
    return objects;
  } catch (thrown) {
    if (isNotFound(thrown)) return [];
    throw thrown;
  }
}
