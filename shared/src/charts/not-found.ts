/** What to say when there is no such chart or version: what was asked for, of whom, and what is there instead. */
import { AppError } from "../errors/app-error.ts";
import { chartErrors } from "./errors.ts";
import type { IndexedChart } from "./http-repository.ts";
import type { HttpSource } from "./source.ts";

const namesShown = 5;

export function noSuchChart(source: HttpSource, index: IndexedChart): AppError {
  const stem = source.chart.toLowerCase().slice(0, 3);
  const alike = index.names
    .filter((name) => name.toLowerCase().startsWith(stem))
    .slice(0, namesShown);
  const hint = alike.length === 0 ? "" : `, those with a similar name are ${alike.join(", ")}`;
  return new AppError(
    chartErrors.CHART_NOT_FOUND,
    `no chart named ${source.chart} found: GET ${index.indexUrl} lists ${index.names.length} charts${hint}`,
  );
}

export function noSuchVersion(
  source: HttpSource,
  wanted: string,
  index: IndexedChart,
  highest: readonly string[],
): AppError {
  const count = index.chart?.entries.length ?? 0;
  return new AppError(
    chartErrors.CHART_VERSION_NOT_FOUND,
    `no chart version found for ${source.chart}-${wanted}: GET ${index.indexUrl} ${offers(count, "versions", highest)}${broken(index)}`,
  );
}

export function noSuchTag(
  repository: string,
  wanted: string,
  tags: readonly string[],
  highest: readonly string[],
): AppError {
  return new AppError(
    chartErrors.CHART_VERSION_NOT_FOUND,
    `no chart version found for ${repository}:${wanted}: the registry ${offers(tags.length, "tags", highest)}`,
  );
}

function offers(count: number, what: string, highest: readonly string[]): string {
  if (highest.length === 0)
    return count === 0 ? `lists no ${what}` : `lists ${count} ${what}, none of which is a version`;
  return `lists ${count} ${what}, the highest are ${highest.join(", ")}`;
}

function broken(index: IndexedChart): string {
  const [first] = index.chart?.problems ?? [];
  return first === undefined ? "" : `; skipped: ${first}`;
}
