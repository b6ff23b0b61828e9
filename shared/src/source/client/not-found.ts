/** What to say when there is no such chart or version: what was asked for, of whom, and what is there instead. */
import { AppError } from "../../errors/app-error.ts";
import { nearest } from "../../text/nearest.ts";
import { parseVersion } from "../../version/version.ts";
import { chartErrors } from "../errors.ts";
import type { IndexedChart } from "../http/index-repository.ts";
import type { HttpLocation } from "../location.ts";

const namesShown = 5;

export function noSuchChart(source: HttpLocation, index: IndexedChart): AppError {
  const { names } = index;
  const charts = names.length === 1 ? "1 chart" : `${names.length} charts`;
  return new AppError(
    chartErrors.CHART_NOT_FOUND,
    `no chart named ${source.chart} found: GET ${index.indexUrl} lists ${charts}${hint(source.chart, names)}`,
  );
}

/** All names where there are few, else those that may have been meant. */
function hint(wanted: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  if (names.length <= namesShown) return `: ${names.join(", ")}`;
  const stem = wanted.toLowerCase().slice(0, 3);
  const related = names.filter((name) => name.toLowerCase().startsWith(stem));
  const alike = [...new Set([...nearest(wanted, names, namesShown), ...related])];
  return alike.length === 0
    ? ""
    : `, those with a similar name are ${alike.slice(0, namesShown).join(", ")}`;
}

export function noSuchVersion(
  source: HttpLocation,
  wanted: string,
  index: IndexedChart,
  highest: readonly string[],
): AppError {
  const count = index.chart?.entries.length ?? 0;
  return new AppError(
    chartErrors.CHART_VERSION_NOT_FOUND,
    `no chart version found for ${asked(source.chart, "-", wanted)}: GET ${index.indexUrl} ${offers(count, "version", highest)}${broken(index)}`,
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
    `no chart version found for ${asked(repository, ":", wanted)}: the registry ${offers(tags.length, "tag", highest)}`,
  );
}

/** Without a version the newest release was asked for. */
function asked(what: string, separator: string, wanted: string): string {
  return wanted === "" ? what : `${what}${separator}${wanted}`;
}

function offers(count: number, what: string, highest: readonly string[]): string {
  if (count === 0) return `lists no ${what}s`;
  const [first] = highest;
  if (count === 1)
    return first === undefined
      ? `lists one ${what}, which is no version`
      : `lists one ${what}, ${first}${prereleaseHint(highest)}`;
  return first === undefined
    ? `lists ${count} ${what}s, none of which is a version`
    : `lists ${count} ${what}s, the highest are ${highest.join(", ")}${prereleaseHint(highest)}`;
}

/** The rule of Helm's constraints that people stumble over. */
function prereleaseHint(versions: readonly string[]): string {
  return versions.every((text) => isPrerelease(text))
    ? "; a prerelease is chosen only by a constraint that names one, such as >=0.0.0-0"
    : "";
}

function isPrerelease(text: string): boolean {
  return (parseVersion(text.replaceAll("_", "+"))?.prerelease.length ?? 0) > 0;
}

function broken(index: IndexedChart): string {
  const [first] = index.chart?.problems ?? [];
  return first === undefined ? "" : `; skipped: ${first}`;
}
