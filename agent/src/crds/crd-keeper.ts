/**
 * Has the CustomResourceDefinitions of a release outlive it, or go with it (docs/adr/0015). Helm decides by its own
 * record when it uninstalls and by the live object when it upgrades; both are made to say what is wanted. Level-triggered,
 * and without a request for releases that have none.
 */
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { isForbidden } from "@flotilla/shared/kube/client/status-error.ts";
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
} from "@flotilla/shared/kube/objects/core-resources.ts";
import { apiVersionOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Actor } from "../acting/actors.ts";
import type { StoredReleases } from "../engine/stored-releases.ts";
import { agentErrors } from "../errors.ts";
import { type HelmRelease, type ReleaseRecord, recordSecretName } from "../helm/release-record.ts";
import type { Releases } from "../helm/releases.ts";
import { chartsOwn, crdsOf, type ReleasedCrd, withKeptCrds } from "./crd-documents.ts";
import {
  crdFieldManager,
  handOver,
  type OwnAnnotations,
  type Place,
  policyChange,
} from "./live-crd.ts";

export interface CrdWishes {
  /** Whether definitions stay when their release goes. */
  readonly keep: boolean;
  /** As whom it is done. */
  readonly actor: Actor;
  readonly signal: AbortSignal;
}

export interface CrdKeeper {
  /** For a release that is as it is wanted: also somebody's own `helm uninstall` leaves then what is to stay. */
  settle(record: ReleaseRecord, wishes: CrdWishes): Promise<void>;
  /** To be called before Helm upgrades a release, and deletes of it what its chart does not have any more. */
  beforeUpgrade(release: Place, wishes: CrdWishes): Promise<void>;
  /** To be called before Helm uninstalls a release. `to`: where it is moved, and takes along what stays. */
  beforeRemoval(record: ReleaseRecord, wishes: CrdWishes, to?: Place): Promise<void>;
}

export interface CrdKeeperDeps {
  readonly stored: StoredReleases;
  readonly releases: Pick<Releases, "history">;
  readonly log: Log;
}

/** Requests at a time for one release: charts have some dozens of them. */
const atOnce = 8;

export function createCrdKeeper({ stored, releases, log }: CrdKeeperDeps): CrdKeeper {
  /** By what was read of it, how a release was settled. */
  const settled = new WeakMap<HelmRelease, boolean>();

  async function write(release: HelmRelease, { keep, actor }: CrdWishes, then: string) {
    const manifest = keep ? withKeptCrds(release.manifest) : chartsOwn(release.manifest);
    if (manifest === release.manifest) return;
    const { namespace } = release;
    try {
      await stored.rewrite(actor.rest, release, manifest);
    } catch (thrown) {
      if (!isForbidden(thrown)) throw thrown;
      throw new AppError(
        agentErrors.CRDS_NOT_KEPT,
        `write into Helm's record ${namespace}/${recordSecretName(release)} that its CustomResourceDefinitions ${keep ? "stay when it goes" : "go with it"}, as ${actor.title}, which needs the right to update that Secret: ${messageOf(thrown)}; ${then}`,
        { cause: thrown },
      );
    }
    log.info(
      { release: release.name, namespace, revision: release.revision, keep },
      "what becomes of a release's definitions is written into its record",
    );
  }

  return {
    async settle(record, wishes) {
      const release = await stored.read(record);
      if (settled.get(release) === wishes.keep) return;
      const then = "the release itself is installed";
      await write(release, wishes, then);
      await describe(release, wishes, then);
      settled.set(await stored.read(record), wishes.keep);
    },
    async beforeUpgrade(place, wishes) {
      const release = await readable(
        stored,
        upgraded(releases.history(place.namespace, place.name)),
      );
      if (release === undefined) return;
      await describe(release, wishes, "the release is left as it is until then");
    },
    async beforeRemoval(record, wishes, to) {
      const release = await readable(stored, record);
      if (release === undefined) return;
      const then = "the release is left as it is until then";
      if (to !== undefined && !isSamePlace(to, release))
        await handAllOver(release, to, wishes, then);
      await write(release, wishes, then);
    },
  };
}

/** The one whose objects Helm compares with what is new: the last that was deployed, or else the last. */
function upgraded(history: readonly ReleaseRecord[]): ReleaseRecord | undefined {
  const deployed = history.filter(({ status }) => status === "deployed");
  return (deployed.length > 0 ? deployed : history).reduce<ReleaseRecord | undefined>(
    (last, record) => (last === undefined || record.revision > last.revision ? record : last),
    undefined,
  );
}

/** Undefined where there is none, or none that can be read: then Helm finds none in it either, and deletes nothing. */
async function readable(
  stored: StoredReleases,
  record: ReleaseRecord | undefined,
): Promise<HelmRelease | undefined> {
  if (record === undefined) return undefined;
  try {
    return await stored.read(record);
  } catch (thrown) {
    if (AppError.from(thrown).code !== agentErrors.RELEASE_UNREADABLE.code) throw thrown;
    return undefined;
  }
}

/** Has the objects in the cluster say what becomes of them. */
async function describe(release: HelmRelease, wishes: CrdWishes, then: string): Promise<void> {
  const { keep } = wishes;
  await applyEach(
    crdsOf(release.manifest).filter(({ isSettledByChart }) => !isSettledByChart),
    (crd) => policyChange(crd, keep, release),
    wishes,
    {
      what: (name) =>
        `have CustomResourceDefinition ${name} ${keep ? "stay when its release goes" : "go with its release"}`,
      then,
    },
  );
}

/** Those that stay would otherwise be refused to the release that comes in the place of this one. */
async function handAllOver(
  release: HelmRelease,
  to: Place,
  wishes: CrdWishes,
  then: string,
): Promise<void> {
  await applyEach(
    crdsOf(release.manifest).filter(({ isSettledByChart }) => wishes.keep || isSettledByChart),
    (crd) => handOver(crd, release, to),
    wishes,
    {
      what: (name) =>
        `hand CustomResourceDefinition ${name} over to release ${to.namespace}/${to.name}`,
      then,
    },
  );
}

interface Saying {
  readonly what: (name: string) => string;
  readonly then: string;
}

/** All annotations that are to be ours; undefined: they are. */
type ChangeOf = (crd: CustomResourceDefinition) => OwnAnnotations | undefined;

async function applyEach(
  crds: readonly ReleasedCrd[],
  changeOf: ChangeOf,
  wishes: CrdWishes,
  saying: Saying,
): Promise<void> {
  const queue = crds.values();
  const workers = Array.from({ length: Math.min(atOnce, crds.length) }, async () => {
    for (const { name } of queue) await applyOne(name, changeOf, wishes, saying);
  });
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

async function applyOne(
  name: string,
  changeOf: ChangeOf,
  { actor, signal }: CrdWishes,
  { what, then }: Saying,
): Promise<void> {
  try {
    const crd = await actor.rest.get(customResourceDefinitions, { name }, { signal });
    const annotations = crd && changeOf(crd);
    if (annotations === undefined) return;
    // With its UID, so that none is made where somebody has deleted it just now.
    const body = {
      apiVersion: apiVersionOf(customResourceDefinitions),
      kind: customResourceDefinitions.kind,
      metadata: { name, uid: crd?.metadata.uid, annotations },
    };
    await actor.rest.patch(
      customResourceDefinitions,
      { name },
      // What is handed over was applied by Helm before.
      { type: "apply", body, force: true },
      { signal, fieldManager: crdFieldManager },
    );
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    throw new AppError(
      agentErrors.CRDS_NOT_KEPT,
      `${what(name)}, as ${actor.title}, which needs the rights to get and to patch it: ${messageOf(thrown)}; ${then}`,
      { cause: thrown },
    );
  }
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}
