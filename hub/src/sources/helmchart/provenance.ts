/**
 * How a pin was resolved: as which chart, in which index, by which references of Git, and with whose keys signatures were verified.
 * Policies decide by it. It stands beside the pin that it is of, signed together with that: a source may say something else by now, and
 * what agents install, which the pin decides alone, stays the same. Pure.
 */

import { findCondition } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import type { PinSigner } from "../../rules/index.ts";
import type { SourceArtifact, SourceObject } from "../fluxsource/source-status.ts";
import { dependenciesKey, pinKey } from "./artifact-keys.ts";

const provenanceKey = "flotilla.dev/provenance";
const signatureKey = "flotilla.dev/provenance-signature";

const provenanceSchema = z.array(
  z.object({
    /** The full name, or the commit when only that was named; absent: of no Git repository, or not known. */
    ref: z.string().optional(),
    /** The Secret in the namespace of the source whose keys a signature was verified with. */
    verifiedBy: z.string().optional(),
    /** A digest of these keys. */
    keys: z.string().optional(),
    /** The chart of a HelmChart: its `spec.chart`. */
    chart: z.string().optional(),
    /** The address of the index that the chart was found in; a pin names only where the archive is. */
    repository: z.string().optional(),
  }),
);

/** The provenance of the source itself, and of each that it includes. Fields that are absent are not known, or there are none. */
export type Provenance = Readonly<z.infer<typeof provenanceSchema>>;

type Artifact = Pick<SourceArtifact, "metadata">;

/** With the provenance of the dependencies, so that none can be taken away. */
function signedOf(kind: string, { namespace, name, uid }: ObjectMeta, { metadata }: Artifact) {
  const { [pinKey]: pin = "", [dependenciesKey]: dependencies = "" } = metadata ?? {};
  const { [provenanceKey]: provenance = "" } = metadata ?? {};
  return ["provenance", kind, namespace, name, uid, pin, dependencies, provenance];
}

/** The artifact with the provenance of the pin that it has. */
export function withProvenance<T extends Artifact>(
  kind: string,
  object: ObjectMeta,
  { artifact, provenance }: { readonly artifact: T; readonly provenance: Provenance },
  signer: Pick<PinSigner, "sign">,
): T {
  const metadata = { ...artifact.metadata, [provenanceKey]: JSON.stringify(provenance) };
  const signature = signer.sign(signedOf(kind, object, { metadata }));
  return { ...artifact, metadata: { ...metadata, [signatureKey]: signature } };
}

/** Undefined unless the hub has signed it for this object and the pin of the artifact. */
export function provenanceOfArtifact(
  kind: string,
  object: ObjectMeta,
  artifact: Artifact | undefined,
  signer: Pick<PinSigner, "isSigned">,
): Provenance | undefined {
  const { [provenanceKey]: text, [signatureKey]: signature = "" } = artifact?.metadata ?? {};
  if (artifact === undefined || text === undefined) return undefined;
  if (!signer.isSigned(signedOf(kind, object, artifact), signature)) return undefined;
  const parsed = provenanceSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}

/** Part of what identifies the state of a source: the same files may be resolved in another way. */
export function provenanceText({ metadata }: Artifact): string {
  return metadata?.[provenanceKey] ?? "";
}

/**
 * Whether a source has to be read again for it: an earlier version has read it, or somebody else wrote its status. One that cannot be
 * read is not: it is read again in its turn.
 */
export function lacksProvenance(
  kind: string,
  { metadata, status }: SourceObject,
  signer: Pick<PinSigner, "isSigned">,
): boolean {
  if (findCondition(status?.conditions, fluxType.ready)?.status !== "True") return false;
  const known = provenanceOfArtifact(kind, metadata, status?.artifact, signer);
  return known === undefined || (kind === "HelmChart" && known[0]?.chart === undefined);
}
