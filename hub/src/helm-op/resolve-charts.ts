/** Resolves what a HelmOp asks for into pins, asking repositories only for what has none yet or is due to be polled. */
import type { ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { accessTo } from "@flotilla/shared/charts/access.ts";
import type { Resolver } from "@flotilla/shared/charts/resolve.ts";
import { classifySource } from "@flotilla/shared/charts/source.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { choosePin } from "./choose-pin.ts";
import { pinFor, type WantedChart, wantedCharts } from "./plan-bundle.ts";

export interface ChartResolution {
  /** One for each wanted chart that has one now. */
  readonly pins: readonly ChartPin[];
  /** What people should know although it went well. */
  readonly notes: readonly string[];
  /** The first failure; `isPinned` when what it was about keeps an earlier pin. */
  readonly failure?: { readonly error: AppError; readonly isPinned: boolean };
}

export interface ResolveRequest {
  readonly helmOp: HelmOp;
  /** Pins that are kept as they are unless `poll` is set. */
  readonly known: readonly ChartPin[];
  readonly poll: boolean;
  readonly signal: AbortSignal;
}

export async function resolveCharts(
  resolver: Resolver,
  request: ResolveRequest,
): Promise<ChartResolution> {
  const results = await Promise.all(
    wantedCharts(request.helmOp).map((wanted) => resolveOne(resolver, wanted, request)),
  );
  const failures = results.flatMap(({ error, pin }) =>
    error === undefined ? [] : [{ error, isPinned: pin !== undefined }],
  );
  // A chart without any pin keeps the HelmOp from being carried out; that comes first.
  const failure = failures.find(({ isPinned }) => !isPinned) ?? failures[0];
  return {
    pins: results.flatMap(({ pin }) => (pin === undefined ? [] : [pin])),
    notes: results.flatMap(({ note }) => (note === undefined ? [] : [note])),
    ...(failure !== undefined && { failure }),
  };
}

interface Resolved {
  readonly pin: ChartPin | undefined;
  readonly note?: string;
  readonly error?: AppError;
}

async function resolveOne(
  resolver: Resolver,
  wanted: WantedChart,
  { helmOp, known, poll, signal }: ResolveRequest,
): Promise<Resolved> {
  const earlier = pinFor(known, wanted);
  if (earlier !== undefined && !poll) return { pin: earlier };
  const source = classifySource(wanted);
  if (source instanceof AppError) return { pin: earlier, error: source };
  try {
    const access = accessTo(source, {
      insecureSkipVerify: helmOp.spec.insecureSkipTLSVerify ?? false,
    });
    const { pin: fresh } = await resolver.resolvePin(source, wanted.version, access, { signal });
    const { pin, note } = choosePin(earlier?.pin, fresh);
    return { pin: { ...wanted, pin }, ...(note !== undefined && { note }) };
  } catch (thrown) {
    return { pin: earlier, error: AppError.from(thrown) };
  }
}
