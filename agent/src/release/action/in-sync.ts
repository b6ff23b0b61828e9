/** A release that is installed as desired: what is known of it, and what its drift is followed with. */
import type { DeploymentContent } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { archiveDigest } from "@flotilla/shared/source";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  isSameContent,
  manifestDigest,
  type ReadRecords,
  type ReleaseRecord,
  type Releases,
  type StoredReleases,
} from "../../helm/index.ts";
import type { DriftInput } from "../../observe/index.ts";
import type { Inventory } from "../../state/index.ts";
import type { InSync } from "./deploy-pass.ts";

interface InSyncTools {
  readonly releases: Pick<Releases, "latest">;
  readonly stored: Pick<StoredReleases, "read">;
  readonly records: Pick<ReadRecords, "manifest" | "wholeObjects">;
  readonly inventory: Pick<Inventory, "revisionOf">;
}

interface Installed {
  readonly content: DeploymentContent;
  readonly client: ImpersonatedClient;
}

/** Whether a record is still the one that the agent created. */
export async function isUnchanged(
  { stored, inventory }: Pick<InSyncTools, "stored" | "inventory">,
  record: ReleaseRecord,
): Promise<boolean> {
  const release = await stored.read(record);
  return isSameContent(inventory.revisionOf(record, record.revision)?.content, release);
}

/** Whether a record is not the agent's any more: somebody has replaced it, perhaps while no agent ran. It is left to its author then. */
export async function disownChanged(
  tools: Pick<InSyncTools, "stored"> & {
    readonly inventory: Pick<Inventory, "revisionOf" | "disown">;
  },
  record: ReleaseRecord,
): Promise<boolean> {
  if (await isUnchanged(tools, record)) return false;
  await tools.inventory.disown(record, record.revision);
  return true;
}

/** What is known of a release that is installed. */
export async function inSync(
  tools: InSyncTools,
  { content, client }: Installed,
  record: ReleaseRecord,
): Promise<InSync> {
  const { stored, records } = tools;
  const release = await stored.read(record);
  const { namespace, name, revision, chartVersion, appVersion } = release;
  const chartDigest = record.chartDigest ?? archiveDigest(content.pin);
  const { healthCheckExprs, ignoredConditions = [] } = content;
  return {
    kind: "in-sync",
    release: { namespace, name, revision, chartVersion, appVersion },
    objects: await records.manifest(release, "objects"),
    manifestDigest: manifestDigest(release),
    ...(chartDigest !== undefined && { chartDigest }),
    ...(healthCheckExprs !== undefined && { healthChecks: healthCheckExprs }),
    client: client.watch,
    ignoredConditions,
    drift: {
      ...driftInput(tools, { content, client }, record),
      manifestDigest: manifestDigest(release),
    },
  };
}

function driftInput(
  tools: InSyncTools,
  { content, client }: Installed,
  record: ReleaseRecord,
): Omit<DriftInput, "manifestDigest"> {
  const { namespace, name, revision } = record;
  return {
    release: { namespace, name, revision },
    options: content.drift ?? {},
    client,
    async wholeObjects() {
      // Tenants can write records: only what the agent installed is desired.
      if (await isUnchanged(tools, record))
        return await tools.records.wholeObjects(await tools.stored.read(record));
      throw new AppError(
        agentErrors.RELEASE_NOT_OURS,
        `the record of release ${namespace}/${name} was changed by somebody else`,
      );
    },
    isCurrent() {
      const latest = tools.releases.latest(namespace, name);
      return latest?.revision === revision && latest.status === "deployed";
    },
  };
}
