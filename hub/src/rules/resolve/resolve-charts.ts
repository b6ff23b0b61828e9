/** Resolves chart references into pins, asking sources only for those that have none or are due. */

import { isDeepStrictEqual } from "node:util";
import type { ChartPin } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { isEnding } from "@flotilla/shared/kube/controller";
import { accessTo, classifySource, type Pin } from "@flotilla/shared/source";
import type { ResolveOptions, Resolver } from "@flotilla/shared/source/client";
import { type ChartReference, chartReferences, entryFor } from "../frontend/charts.ts";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import type { ReleaseAccess } from "./chart-access.ts";
import { choosePin, type PinTrust } from "./choose-pin.ts";

export interface ChartResolution {
  /** One for each chart reference that has one now. */
  readonly pins: readonly ChartPin[];
  /** The first failure; `isPinned` when what it was about keeps an earlier pin. */
  readonly failure?: { readonly error: AppError; readonly isPinned: boolean };
}

export interface ResolveRequest {
  /** The result is pinned, regardless of the known pin. */
  readonly follow?: boolean;
  /** Which earlier answers of a source are accepted; by default none. */
  readonly sharingOf?: (reference: ChartReference) => Sharing;
  readonly release: PlannedRelease;
  /** Pins that stay as they are unless `poll` is set. */
  readonly known: readonly ChartPin[];
  readonly poll: boolean;
  readonly settingsFor: ReleaseAccess["settingsFor"];
  /**
   * Present when an agent cannot fetch a pin: only the pinned versions are resolved again. Whether no cluster runs a
   * pin.
   */
  readonly isUseless?: (pin: Pin) => boolean;
  /** Errors after the end of the process or its leadership are thrown: they are not about a chart. */
  readonly signal: AbortSignal;
}

export async function resolveCharts(
  resolver: Resolver,
  request: ResolveRequest,
): Promise<ChartResolution> {
  const results = await Promise.all(
    chartReferences(request.release).map((reference) => resolveOne(resolver, reference, request)),
  );
  const failures = results.flatMap(({ error, pin }) =>
    error === undefined ? [] : [{ error, isPinned: pin !== undefined }],
  );
  // A release with an unpinned chart is not accepted: report it first.
  const failure = failures.find(({ isPinned }) => !isPinned) ?? failures[0];
  return {
    pins: results.flatMap(({ pin }) => (pin === undefined ? [] : [pin])),
    ...(failure !== undefined && { failure }),
  };
}

interface Resolved {
  readonly pin: ChartPin | undefined;
  readonly error?: AppError;
}

async function resolveOne(
  resolver: Resolver,
  reference: ChartReference,
  request: ResolveRequest,
): Promise<Resolved> {
  const { known, poll, settingsFor, isUseless, signal } = request;
  const earlier = entryFor(known, reference);
  const unchanged = { pin: earlier };
  if (earlier !== undefined && !poll && isUseless === undefined) return unchanged;
  const version =
    poll || earlier === undefined || earlier.pin.kind === "tarball"
      ? reference.version
      : earlier.pin.version;
  const source = classifySource(reference);
  if (source instanceof AppError) return { ...unchanged, error: source };
  const settings = settingsFor(source);
  if (settings instanceof AppError) return { ...unchanged, error: settings };
  try {
    const access = accessTo(source, settings);
    const { pin: fresh, problems } = await resolver.resolve(source, version, access, {
      ...request.sharingOf?.(reference),
      signal,
    });
    const { pin, note } = choosePin(earlier?.pin, fresh, trustIn(earlier?.pin, request));
    const remarks = [note, settings.remark, ...problems].filter((text) => text !== undefined);
    return { pin: { ...reference, pin, ...(remarks.length > 0 && { note: remarks.join("; ") }) } };
  } catch (thrown) {
    if (isEnding(signal)) throw thrown;
    return { ...unchanged, error: AppError.from(thrown) };
  }
}

function trustIn(pin: Pin | undefined, { follow, isUseless }: ResolveRequest): PinTrust {
  if (pin === undefined || follow === true) return "none";
  if (isUseless === undefined) return "firm";
  return isUseless(pin) ? "none" : "unfetchable";
}

/** Whether both lists pin the same archives, whatever their order and notes. */
export function isSameArchives(pins: readonly ChartPin[], others: readonly ChartPin[]): boolean {
  return (
    pins.length === others.length &&
    pins.every((entry) => isDeepStrictEqual(entry.pin, entryFor(others, entry)?.pin))
  );
}

/** Notes on pins, as sentences. */
export function notesOn(pins: readonly ChartPin[]): readonly string[] {
  return pins.flatMap(({ note }) => note ?? []);
}
/** Which requests for a chart may be shared with other HelmOps. */

export type Sharing = Pick<ResolveOptions, "since" | "trigger">;
