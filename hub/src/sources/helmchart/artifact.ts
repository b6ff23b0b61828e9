/** The artifact of a HelmChart carries its pin, signed by the hub: a status may be writable for others. Pure. */

import type { HelmChart } from "@flotilla/shared/flux";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";
import { type Pin, pinnedVersion, pinSchema } from "@flotilla/shared/source";
import * as z from "zod";
import type { PinSigner } from "../../rules/index.ts";
import type { SourceArtifact } from "../fluxsource/source-status.ts";
import { dependenciesKey, pinKey } from "./artifact-keys.ts";
import type { ResolvedChart } from "./chart-source.ts";
import { withProvenance } from "./provenance.ts";

const signatureKey = "flotilla.dev/pin-signature";
const dependenciesSignatureKey = "flotilla.dev/dependencies-signature";
const problemKey = "flotilla.dev/chart-problem";
const problemReasonKey = "flotilla.dev/chart-problem-reason";

/** Why the chart of an artifact cannot be installed, with Flux's reason of a HelmRelease; the source itself has not failed. */
export interface ChartProblem {
  readonly reason: (typeof fluxReason)["artifactFailed" | "chartMutateError"];
  readonly message: string;
}

const addressesSchema = z.array(z.string());

/** What the hub signs: the pin of one object. */
function signedOf(kind: string, { namespace, name, uid }: ObjectMeta, pin: string) {
  return [kind, namespace, name, uid, pin];
}

/** The metadata of an artifact with a pin, for any kind of source. */
export function pinMetadata(
  kind: string,
  metadata: ObjectMeta,
  pin: Pin,
  signer: Pick<PinSigner, "sign">,
): Readonly<Record<string, string>> {
  const text = JSON.stringify(pin);
  return { [pinKey]: text, [signatureKey]: signer.sign(signedOf(kind, metadata, text)) };
}

/** The pin in the artifact of a source; undefined unless the hub has signed it for that object. */
export function pinOfArtifact(
  kind: string,
  metadata: ObjectMeta,
  artifact: SourceArtifact | undefined,
  signer: Pick<PinSigner, "isSigned">,
): Pin | undefined {
  const { [pinKey]: text, [signatureKey]: signature = "" } = artifact?.metadata ?? {};
  if (text === undefined || !signer.isSigned(signedOf(kind, metadata, text), signature))
    return undefined;
  const parsed = pinSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}

/**
 * The addresses of the repositories that the chart of a HelmChart has dependencies from: agents get the credentials for these, so they
 * are signed, with the pin of the chart. Undefined: the artifact does not say it.
 */
export function dependenciesOfArtifact(
  { metadata }: Pick<HelmChart, "metadata">,
  artifact: SourceArtifact | undefined,
  signer: Pick<PinSigner, "isSigned">,
): readonly string[] | undefined {
  const { [pinKey]: pin = "", ...others } = artifact?.metadata ?? {};
  const { [dependenciesKey]: text, [dependenciesSignatureKey]: signature = "" } = others;
  if (text === undefined) return undefined;
  return signer.isSigned([...signedOf("HelmChart", metadata, pin), text], signature)
    ? addressesSchema.parse(JSON.parse(text))
    : undefined;
}

function dependenciesMetadata(
  metadata: ObjectMeta,
  pin: Pin,
  dependencies: readonly string[],
  signer: Pick<PinSigner, "sign">,
): Readonly<Record<string, string>> {
  if (dependencies.length === 0) return {};
  const text = JSON.stringify(dependencies);
  const signed = [...signedOf("HelmChart", metadata, JSON.stringify(pin)), text];
  return { [dependenciesKey]: text, [dependenciesSignatureKey]: signer.sign(signed) };
}

/** The metadata of an artifact that has a problem instead of a pin. */
export function problemMetadata({
  reason,
  message,
}: ChartProblem): Readonly<Record<string, string>> {
  return { [problemKey]: message, [problemReasonKey]: reason };
}

export function problemOfArtifact(artifact: SourceArtifact | undefined): ChartProblem | undefined {
  const { [problemKey]: message, [problemReasonKey]: reason } = artifact?.metadata ?? {};
  if (message === undefined) return undefined;
  return {
    reason: reason === fluxReason.chartMutateError ? reason : fluxReason.artifactFailed,
    message,
  };
}

export function chartArtifact(
  { metadata, spec }: HelmChart,
  { name, pin, digest, url, dependencies = [], provenance = [] }: ResolvedChart,
  signer: Pick<PinSigner, "sign">,
): Omit<SourceArtifact, "lastUpdateTime"> {
  const version = pinnedVersion(pin);
  const artifact = {
    revision: version,
    digest,
    url,
    path: `helmchart/${metadata.namespace}/${metadata.name}/${name}-${version}.tgz`,
    metadata: {
      ...pinMetadata("HelmChart", metadata, pin, signer),
      ...dependenciesMetadata(metadata, pin, dependencies, signer),
    },
  };
  const [own, ...included] = provenance;
  const named = [{ ...own, ...(spec !== undefined && { chart: spec.chart }) }, ...included];
  return withProvenance("HelmChart", metadata, { artifact, provenance: named }, signer);
}
