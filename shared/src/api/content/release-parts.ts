/** What a release digest covers, part by part, so that a change of it can be named. Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../text/json/index.ts";

/** The parts, with the reason of an upgrade that each is when it has changed. */
const changeReasons = {
  chart: "ChartChanged",
  values: "ValuesChanged",
  postRenderers: "PostRenderersChanged",
  commonMetadata: "CommonMetadataChanged",
  copies: "DownstreamResourcesChanged",
  forceSyncGeneration: "ForceSyncGenerationChanged",
} as const;

export type ReleasePart = keyof typeof changeReasons;
export type ChangeReason = (typeof changeReasons)[ReleasePart];

/** Short digests: they are only compared with the digests of the revision before. A part that is not set is absent. */
export type ReleaseParts = Readonly<Partial<Record<ReleasePart, string>>>;

/** Hex digits of a part. */
const digits = 8;

export function releaseParts(inputs: Readonly<Record<ReleasePart, unknown>>): ReleaseParts {
  return Object.fromEntries(
    Object.entries(inputs)
      .filter(([, value]) => value !== undefined)
      .map(([part, value]) => {
        const hash = createHash("sha256").update(canonicalJson(value));
        return [part, hash.digest("hex").slice(0, digits)] as const;
      }),
  );
}

/** The parts that differ, as reasons; none: what differs is not known. */
export function changeReasonsOf(
  before: ReleaseParts | undefined,
  after: ReleaseParts,
): readonly ChangeReason[] {
  if (before === undefined) return [];
  const parts = Object.keys(changeReasons) as readonly ReleasePart[];
  return parts.filter((part) => before[part] !== after[part]).map((part) => changeReasons[part]);
}
